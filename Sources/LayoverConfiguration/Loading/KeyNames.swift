/// The names of the keys of one section, as a tree.
struct KeyNames: Sendable {
    /// How the text of a variable or an option is read, for each key.
    let fromText: [[String]: @Sendable (String) -> JSONValue]
    private let groups: Set<[String]>

    static let global = KeyNames(Schema.global)
    static let policy = KeyNames(Schema.policy)
    static let route = KeyNames(Schema.route)

    init<Root>(_ keys: [Key<Root>]) {
        fromText = Dictionary(keys.map { ($0.path, $0.fromText) }, uniquingKeysWith: { first, _ in first })
        groups = Set(keys.flatMap { key in (0..<key.path.count).map { Array(key.path[..<$0]) } })
    }

    func isKey(_ path: [String]) -> Bool { fromText[path] != nil }

    /// Whether keys stand below the path.
    func isGroup(_ path: [String]) -> Bool { groups.contains(path) }

    /// The names that may stand directly below the path.
    func members(of path: [String]) -> [String] {
        let below = fromText.keys.filter { $0.count > path.count && $0.starts(with: path) }
        return Set(below.map { $0[path.count] }).sorted()
    }
}
