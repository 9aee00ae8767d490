import LayoverCore

/// The body of a change of reachability.
struct ReachabilityRequest: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case mode, reason, tunnels, hint
    }

    enum Change {
        case mode(ReachabilityMode, reason: String?, tunnels: OfflineTunnels)
        /// A script of the host reports that the network changed.
        case hint
    }

    private var mode: String?
    var reason: String?
    private var tunnels: String?
    private var hint: String?

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mode = try container.given(String.self, forKey: .mode)
        reason = try container.decodeReason(forKey: .reason)
        tunnels = try container.given(String.self, forKey: .tunnels)
        hint = try container.given(String.self, forKey: .hint)
    }

    func change() throws(AdminProblem) -> Change {
        switch (mode, hint) {
        case (let name?, nil):
            guard let mode = ReachabilityMode(rawValue: name) else {
                throw .malformedBody("'mode' must be one of auto, online, offline.")
            }
            return .mode(mode, reason: reason, tunnels: try tunnels(under: mode))
        case (nil, "changed"):
            guard tunnels == nil else { throw .malformedBody("'tunnels' belongs to the mode offline.") }
            return .hint
        case (nil, .some): throw .malformedBody("'hint' must be \"changed\".")
        default: throw .malformedBody("Send one of 'mode' and 'hint'.")
        }
    }

    private func tunnels(under mode: ReachabilityMode) throws(AdminProblem) -> OfflineTunnels {
        guard let name = tunnels else { return .freeze }
        guard mode == .offline else { throw .malformedBody("'tunnels' belongs to the mode offline.") }
        guard let tunnels = OfflineTunnels(rawValue: name) else {
            throw .malformedBody("'tunnels' must be one of freeze, cut, keep.")
        }
        return tunnels
    }
}
