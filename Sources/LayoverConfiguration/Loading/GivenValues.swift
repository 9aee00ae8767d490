import LayoverCore
import LayoverText

/// A value and who gave it.
struct Given: Sendable {
    var value: JSONValue
    var source: ValueSource
}

/// What all layers have said. A later layer replaces what an earlier one said about the same key.
struct GivenValues: Sendable {
    private(set) var values: [KeyAddress: Given] = [:]
    /// Names under `policies` and `routes`, and who named them first.
    private(set) var policyNames: [String: ValueSource] = [:]
    private(set) var routeNames: [String: ValueSource] = [:]
    var errors: [ConfigurationError] = []
    var warnings: [String] = []

    subscript(address: KeyAddress) -> Given? { values[address] }

    mutating func set(_ address: KeyAddress, to value: JSONValue, by source: ValueSource) {
        declare(address.section, by: source)
        values[address] = Given(value: value, source: source)
    }

    /// Notes that a policy or a route exists, even when nothing is said about it.
    mutating func declare(_ section: KeyAddress.Section, by source: ValueSource) {
        switch section {
        case .global: break
        case .policy(let name): policyNames[name] = policyNames[name] ?? source
        case .route(let name): routeNames[name] = routeNames[name] ?? source
        }
    }

    mutating func refuse(_ path: String, _ message: String, by source: ValueSource) {
        errors.append(ConfigurationError(source: source.description, path: path, message: message))
    }
}

/// Where a value comes from. Later cases win over earlier ones, but for the last.
package enum ValueSource: Sendable, Hashable, CustomStringConvertible {
    /// Nobody said anything.
    case standard
    /// The file, as it was named.
    case file(String)
    /// The name of the variable.
    case environment(String)
    case commandLine
    /// A socket that a service manager has bound.
    case serviceManager
    /// Inherited from this policy.
    case policy(String)

    package var description: String {
        switch self {
        case .standard: "default"
        case .file(let name): name
        case .environment(let name): name
        case .commandLine: "command line"
        case .serviceManager: "socket of the service manager"
        case .policy(let name): "policy \(name)"
        }
    }
}

extension GivenValues {
    /// Adds what a file says.
    mutating func add(file tree: JSONValue, by source: ValueSource) {
        guard case .object(var members) = tree else {
            return refuse("", "the file must contain a JSON object, not \(tree.kind)", by: source)
        }
        let policies = members.removeValue(forKey: Schema.policySection)
        let routes = members.removeValue(forKey: Schema.routeSection)
        add(members, below: [], of: .global, by: source)
        addNamed(policies, in: Schema.policySection, by: source) { .policy($0) }
        addNamed(routes, in: Schema.routeSection, by: source) { .route($0) }
    }

    /// Adds an object whose members are policies or routes.
    private mutating func addNamed(
        _ value: JSONValue?, in section: String, by source: ValueSource,
        as make: (String) -> KeyAddress.Section
    ) {
        guard let value else { return }
        guard case .object(let members) = value else {
            return refuse(section, "expected an object, not \(value.kind)", by: source)
        }
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            let path = "\(section).\(name)"
            guard Self.isName(name) else {
                refuse(
                    path, "a name has only letters, digits and -._ and begins with a letter or digit", by: source)
                continue
            }
            declare(make(name), by: source)
            guard case .object(let keys) = member else {
                refuse(path, "expected an object, not \(member.kind)", by: source)
                continue
            }
            add(keys, below: [], of: make(name), by: source)
        }
    }

    /// Adds the members of an object, and those of the objects in it, as far as they are keys.
    private mutating func add(
        _ members: [String: JSONValue], below path: [String], of section: KeyAddress.Section,
        by source: ValueSource
    ) {
        let names = section.names
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            let address = KeyAddress(section: section, key: path + [name])
            if names.isKey(address.key) {
                set(address, to: member, by: source)
            } else if !names.isGroup(address.key) {
                refuse(address.path, Self.unknown(name, below: path, of: section), by: source)
            } else if case .object(let inner) = member {
                add(inner, below: address.key, of: section, by: source)
            } else {
                refuse(address.path, "expected an object, not \(member.kind)", by: source)
            }
        }
    }

    private static func unknown(
        _ name: String, below path: [String], of section: KeyAddress.Section
    ) -> String {
        let dotted = path + name.split(separator: ".").map { String($0) }
        if name.contains("."), section.names.isKey(dotted) {
            return "unknown key (write nested objects, not names with dots)"
        }
        let isTop = path.isEmpty && section == .global
        let known =
            section.names.members(of: path) + (isTop ? [Schema.policySection, Schema.routeSection] : [])
        return NearestName.complaint(name, known: known)
    }

    /// Names stand in URLs and in field values, so they are of characters that mean nothing there.
    static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= 128 else { return false }
        return Unicode.Scalar(first).isLetterOrDigit
            && name.utf8.allSatisfy { Unicode.Scalar($0).isLetterOrDigit || "-._".utf8.contains($0) }
    }
}

extension Unicode.Scalar {
    fileprivate var isLetterOrDigit: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self)
    }
}

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
