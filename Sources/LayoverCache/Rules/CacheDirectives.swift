/// The directives of a message's `Cache-Control` fields (RFC 9111 section 5.2).
struct CacheDirectives: Sendable {
    /// The number of seconds that a directive gives.
    enum Seconds: Sendable, Equatable {
        case absent
        /// The directive is there without an argument.
        case unbounded
        case value(Int)
        /// No number, or several that contradict each other.
        case invalid
    }

    private struct Directive: Sendable {
        let name: String
        let argument: String?
    }

    /// RFC 9111 section 1.2.2: what is larger than a recipient can say counts as this.
    static let secondsMax = 1 << 31

    private var directives: [Directive] = []

    init(_ fields: MessageFields) {
        for value in fields.texts("cache-control") {
            for member in ListText.members(of: value) {
                let name = member.prefix { $0 != "=" }
                let argument = name.endIndex < member.endIndex ? member[name.endIndex...].dropFirst() : nil
                directives.append(
                    Directive(
                        name: ListText.trimmed(name).lowercased(),
                        argument: argument.map { ListText.unquoted(ListText.trimmed($0)) }))
            }
        }
    }

    var isEmpty: Bool { directives.isEmpty }

    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Whether the directive stands there at least once without names of fields, so that it concerns all of the response.
    func isUnqualified(_ name: String) -> Bool {
        directives.contains { $0.name == name && ($0.argument ?? "").isEmpty }
    }

    /// The field names, in lower case, that a qualified directive concerns (RFC 9111 section 5.2.2.4).
    func fieldNames(_ name: String) -> [String] {
        directives.filter { $0.name == name }.flatMap { directive in
            ListText.members(of: directive.argument ?? "").map { ListText.trimmed($0).lowercased() }
        }
    }

    func seconds(_ name: String) -> Seconds {
        let found = directives.filter { $0.name == name }
        guard let first = found.first else { return .absent }
        let values = found.map { Self.seconds(argument: $0.argument) }
        // Different values of one directive are invalid: RFC 9111 section 4.2.1 lets a cache treat the response as stale. Equal values are
        // valid.
        guard values.allSatisfy({ $0 == values[0] }) else { return .invalid }
        return Self.seconds(argument: first.argument)
    }

    private static func seconds(argument: String?) -> Seconds {
        guard let argument else { return .unbounded }
        guard !argument.isEmpty, argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return .invalid }
        return .value(min(Int(argument) ?? secondsMax, secondsMax))
    }
}
