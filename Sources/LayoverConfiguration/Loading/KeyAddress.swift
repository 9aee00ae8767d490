/// A key at its place: which section, which policy or route, which key of it.
struct KeyAddress: Sendable, Hashable {
    enum Section: Sendable, Hashable {
        case global
        case policy(String)
        case route(String)

        /// What stands before the key.
        var path: [String] {
            switch self {
            case .global: []
            case .policy(let name): [Schema.policySection, name]
            case .route(let name): [Schema.routeSection, name]
            }
        }

        var names: KeyNames {
            switch self {
            case .global: .global
            case .policy: .policy
            case .route: .route
            }
        }
    }

    var section: Section
    var key: [String]

    /// As messages and command line options spell it.
    var path: String { (section.path + key).joined(separator: ".") }

    /// As an environment variable spells it: `LAYOVER_PROXY_SOCKET_MODE`.
    var environmentName: String {
        "LAYOVER_" + (section.path + key).map(Self.upperSnakeCase).joined(separator: "_")
    }

    /// `socketMode` becomes `SOCKET_MODE`; what is neither letter nor digit becomes an underscore.
    private static func upperSnakeCase(_ name: String) -> String {
        var result = ""
        var previousIsLower = false
        for character in name {
            if character.isUppercase, previousIsLower { result += "_" }
            let isPlain = character.isASCII && (character.isLetter || character.isNumber)
            result += isPlain ? character.uppercased() : "_"
            previousIsLower = character.isLowercase || character.isNumber
        }
        return result
    }
}

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
