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
