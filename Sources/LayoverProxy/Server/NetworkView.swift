import LayoverCore
import LayoverEngine

/// A loop's view of origins and of the network, as the engine announced it. A stale view is harmless: the engine looks again.
struct NetworkView {
    /// Origins that are or were in trouble.
    private var notices: [Origin: OriginNotice] = [:]
    var isOffline = false
    /// That of the network as a whole.
    var condition = NetworkCondition()

    mutating func announce(_ origin: Origin, _ notice: OriginNotice) { notices[origin] = notice == .forgotten ? nil : notice }

    /// Whether nothing is known of any origin that a request would have to look at.
    var isQuiet: Bool { !isOffline && notices.isEmpty }

    /// Nil on the fast path: nothing waits for the origin and its gate is open.
    func notice(for origin: Origin) -> OriginNotice? {
        if isOffline { return .shut }
        return notices.isEmpty ? nil : notices[origin]
    }

    /// The same, with what is known of the parent proxy.
    func notice(for request: UpstreamRequest) -> OriginNotice? {
        let own = notice(for: request.origin)
        guard own != .shut, !notices.isEmpty, let gate = request.parentProxy?.gate, let above = notices[gate] else { return own }
        return above == .shut ? above : own ?? above
    }
}
