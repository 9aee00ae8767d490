/// One key of the configuration: its name, what may stand there, and where it goes.
///
/// The list of keys is the only place that knows them. Reading, environment names, suggestions for
/// misspelt names, sources, `config show` and the documentation are all made from it.
struct Key<Root: Sendable>: Sendable {
    /// Which values this version can obey.
    enum Availability: Sendable {
        case now
        /// Only the default: the key belongs to a part that is not built yet.
        case later
    }

    /// What `config show` must not show.
    enum Secrecy: Sendable {
        case none
        /// The value.
        case whole
        /// The values of fields whose names speak of credentials.
        case credentialFields
        /// User name and password of a URL, and what `MaskedURL` masks in its query.
        case urlCredentials
        /// The same fields as `credentialFields`, in the `fields` of an object.
        case fieldsOfResponse
    }

    /// Below the section: `socketMode`, `delay.initial`.
    let path: [String]
    let typeName: String
    /// One sentence or two for the documentation.
    let summary: String
    /// The note that this version does not support the key yet. Nil: this version supports the key.
    let laterNote: String?
    let secrecy: Secrecy
    /// When a reload changes what is in force.
    let effect: ReloadEffect
    let fromText: @Sendable (String) -> JSONValue
    /// Checks the value and puts it into its place.
    let assign: @Sendable (JSONValue, inout Root) throws(Refusal) -> Void
    let write: @Sendable (Root) -> JSONValue
    /// Whether both have the same value. Secrets count too, unlike in what is shown.
    let isSame: @Sendable (Root, Root) -> Bool
    /// Takes the value of the first into the second.
    let copy: @Sendable (Root, inout Root) -> Void

    init<Value>(
        _ path: String, _ place: any WritableKeyPath<Root, Value> & Sendable, _ codec: Codec<Value>,
        standard: Root, available: Availability = .now, secrecy: Secrecy = .none,
        effect: ReloadEffect, _ summary: String
    ) {
        self.path = path.split(separator: ".").map { String($0) }
        self.summary = summary
        self.secrecy = secrecy
        self.effect = effect
        typeName = codec.typeName
        fromText = codec.fromText
        write = { codec.write($0[keyPath: place]) }
        isSame = { $0[keyPath: place] == $1[keyPath: place] }
        copy = { $1[keyPath: place] = $0[keyPath: place] }
        laterNote =
            switch available {
            case .now: nil
            case .later: "Not in this version."
            }
        assign = { (value, root) throws(Refusal) in
            let result = try codec.read(value)
            let isLater = available == .later && result != standard[keyPath: place]
            guard !isLater else { throw Refusal(message: Self.later(value, isSecret: secrecy != .none)) }
            root[keyPath: place] = result
        }
    }

    /// Only short words are repeated: `"defer" is not in this version`.
    private static func later(_ value: JSONValue, isSecret: Bool) -> String {
        switch value {
        case .text, .bool: isSecret ? "not in this version" : "\(value.excerpt) is not in this version"
        default: "not in this version"
        }
    }
}

/// When a key that was changed by a reload takes effect.
enum ReloadEffect: Sendable, CaseIterable {
    /// For every request that begins afterwards, and for those that wait.
    case atOnce
    /// At the next start of the process: a listener, a limit or a folder that is in use.
    case afterRestart
}
