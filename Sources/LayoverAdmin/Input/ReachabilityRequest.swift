import LayoverCore

/// The body of a change of reachability.
struct ReachabilityRequest: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case mode, reason, hint
    }

    enum Change {
        case mode(ReachabilityMode, reason: String?)
        /// A script of the host reports that the network changed.
        case hint
    }

    private var mode: String?
    var reason: String?
    private var hint: String?

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mode = try container.given(String.self, forKey: .mode)
        reason = try container.decodeReason(forKey: .reason)
        hint = try container.given(String.self, forKey: .hint)
    }

    func change() throws(Problem) -> Change {
        switch (mode, hint) {
        case (let name?, nil):
            guard let mode = ReachabilityMode(rawValue: name) else {
                throw .malformedBody("'mode' must be one of auto, online, offline.")
            }
            return .mode(mode, reason: reason)
        case (nil, "changed"): return .hint
        case (nil, .some): throw .malformedBody("'hint' must be \"changed\".")
        default: throw .malformedBody("Send one of 'mode' and 'hint'.")
        }
    }
}
