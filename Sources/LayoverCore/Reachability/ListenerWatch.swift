/// When to look whether servers on this machine listen again, and for which origins a look is news.
///
/// The kernel knows of a server on this machine as soon as it listens; a canary would find it up to a second later. Origins
/// are watched while something waits behind their shut gates. What listens at the first look says nothing: the gate may
/// have been shut by a handshake. A socket that was not there at an earlier look is news, once.
package struct ListenerWatch: Sendable {
    /// The wait between two looks. Default: 50 ms.
    static let interval: Duration = .milliseconds(50)
    /// How long an origin is watched; from then on canaries have to find it. Default: 10 minutes.
    static let watchMax: Duration = .seconds(600)
    /// Origins that are watched at once. Default: 16.
    static let originCountMax = 16

    private struct Watched: Sendable {
        let since: Timestamp
        /// The sockets of all looks so far; nil before the first.
        var known: Set<UInt64>?
        var isOver = false
    }

    private var watched: [Origin: Watched] = [:]
    /// When listeners are looked for again. Nil: there is no origin to look for.
    package private(set) var nextLookAt: Timestamp?

    package init() {}

    /// The origins to look for now.
    package var origins: [Origin] { watched.filter { !$0.value.isOver }.map(\.key) }

    /// Watches these origins and no others.
    package mutating func watch(_ awaited: Set<Origin>, now: Timestamp) {
        guard !(watched.isEmpty && awaited.isEmpty) else { return }
        watched = watched.filter { awaited.contains($0.key) }
        for origin in awaited where watched[origin] == nil && watched.count < Self.originCountMax {
            watched[origin] = Watched(since: now)
            nextLookAt = now
        }
        if origins.isEmpty { nextLookAt = nil }
    }

    /// - Parameter sockets: Those that listen at the ports of `origins`, each by a number that no other gets.
    /// - Returns: The origins that may be back.
    package mutating func looked(_ sockets: [Origin: Set<UInt64>], now: Timestamp) -> [Origin] {
        var back: [Origin] = []
        for (origin, found) in sockets {
            guard let known = watched[origin]?.known else {
                watched[origin]?.known = found
                continue
            }
            if !found.isSubset(of: known) { back.append(origin) }
            watched[origin]?.known = known.union(found)
        }
        for (origin, state) in watched where now - state.since >= Self.watchMax { watched[origin]?.isOver = true }
        nextLookAt = origins.isEmpty ? nil : now + Self.interval
        return back.sorted(by: Origin.isBefore)
    }
}
