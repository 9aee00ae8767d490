import LayoverCore
import LayoverText

extension GivenValues {
    /// Adds what `LAYOVER_…` variables say. Unknown ones only warn.
    ///
    /// A variable cannot bring a policy or a route into being, since its name has lost its
    /// capitals; it changes the built-in ones and those that the file names.
    mutating func add(environment: [String: String]) {
        let known = environmentNames()
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("LAYOVER_") {
            let addresses = known[name] ?? []
            if addresses.count > 1 {
                let paths = addresses.map(\.path).sorted().joined(separator: " and ")
                refuse("", "matches both \(paths); set the key in the file instead", by: .environment(name))
            } else if let address = addresses.first {
                let value = address.section.names.fromText[address.key]?(text) ?? .text(text)
                set(address, to: value, by: .environment(name))
            } else if !Schema.foreignEnvironmentNames.contains(name) {
                let nearest = NearestName.of(name, among: Array(known.keys))
                let hint = nearest.map { " (did you mean \($0)?)" } ?? ""
                warnings.append("\(EscapedText.visible(name)): no configuration key has this name\(hint).")
            }
        }
    }

    private func environmentNames() -> [String: [KeyAddress]] {
        let policies = Set(policyNames.keys).union(Policy.builtIns.map(\.name))
        let sections =
            [KeyAddress.Section.global] + policies.map { .policy($0) } + routeNames.keys.map { .route($0) }
        let addresses = sections.flatMap { section in
            section.names.fromText.keys.map { KeyAddress(section: section, key: $0) }
        }
        return Dictionary(grouping: addresses, by: \.environmentName)
    }

    /// Adds what the command line says, by dotted path.
    mutating func add(overrides: [String: String]) {
        for (path, text) in overrides.sorted(by: { $0.key < $1.key }) {
            guard let address = Self.address(ofDotted: path) else {
                let known = KeyNames.global.fromText.keys.map { $0.joined(separator: ".") }
                refuse(path, NearestName.complaint(path, known: known), by: .commandLine)
                continue
            }
            let value = address.section.names.fromText[address.key]?(text) ?? .text(text)
            set(address, to: value, by: .commandLine)
        }
    }

    /// Finds the key of a dotted path. Names of policies and routes may have dots of their own, so
    /// their keys are looked for from the end, the longest first.
    static func address(ofDotted path: String) -> KeyAddress? {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        if KeyNames.global.isKey(parts) { return KeyAddress(section: .global, key: parts) }
        for length in [2, 1] where parts.count >= length + 2 {
            let key = Array(parts.suffix(length))
            let name = parts[1..<(parts.count - length)].joined(separator: ".")
            let section: KeyAddress.Section? =
                switch parts[0] {
                case Schema.policySection: .policy(name)
                case Schema.routeSection: .route(name)
                default: nil
                }
            guard let section, isName(name), section.names.isKey(key) else { continue }
            return KeyAddress(section: section, key: key)
        }
        return nil
    }
}
