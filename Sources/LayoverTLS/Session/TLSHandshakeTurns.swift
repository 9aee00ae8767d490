package import NIOCore

/// Spreads the work of TLS handshakes over the turns of an event loop. A handshake takes about a millisecond: a thousand connections that
/// open at once would keep all other connections of the loop waiting for a second.
///
/// Confined to its event loop.
package final class TLSHandshakeTurns {
    /// Work that is done in a row. Default: 5 ms.
    static let portion: TimeAmount = .milliseconds(5)
    /// Time for others between two portions; the loop looks at its connections meanwhile. Default: 1 ms.
    static let pause: TimeAmount = .milliseconds(1)

    private let eventLoop: any EventLoop
    private let now: () -> NIODeadline
    private var waiting = CircularBuffer<() -> Void>()
    /// Time that the portion under way has taken.
    private var spent = TimeAmount.zero
    private var isPausePlanned = false

    /// - Parameter now: The time. A test has its own.
    package init(eventLoop: any EventLoop, now: @escaping () -> NIODeadline = { .now() }) { (self.eventLoop, self.now) = (eventLoop, now) }

    /// Does a part of a handshake, at once if the portion has room and nobody waits. All that waits is done in order.
    package func take(_ work: @escaping () -> Void) {
        waiting.append(work)
        if waiting.count == 1 { goOn() }
        planPause()
    }

    private func goOn() {
        while spent < Self.portion, let work = waiting.first {
            let start = now()
            work()
            spent = spent + (now() - start)
            // Removed behind its call: what comes from within waits in line.
            waiting.removeFirst()
        }
    }

    private func planPause() {
        guard !isPausePlanned, spent > .zero || !waiting.isEmpty else { return }
        isPausePlanned = true
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        // Not `execute`: the loop does such tasks before it looks at its connections again.
        eventLoop.scheduleTask(in: Self.pause) { bound.value.pauseEnded() }
    }

    private func pauseEnded() {
        isPausePlanned = false
        spent = .zero
        goOn()
        planPause()
    }
}

/// The turn of one connection. Confined to its event loop.
package final class TLSHandshakeTurn {
    private let turns: TLSHandshakeTurns?
    /// Whether received bytes of the handshake wait for the turn.
    package private(set) var isAwaited = false

    /// - Parameter turns: Nil: each connection does its work at once.
    package init(_ turns: TLSHandshakeTurns?) { self.turns = turns }

    /// - Returns: True: the work is done in its turn, perhaps within this call, unless `end` is called first. It is done once, however
    ///   often this is called before. False: there are no turns, and the caller does the work now.
    package func wait(_ work: @escaping () -> Void) -> Bool {
        guard let turns else { return false }
        guard !isAwaited else { return true }
        isAwaited = true
        turns.take { [weak self] in if self?.end() == true { work() } }
        return true
    }

    /// Does not wait any more.
    ///
    /// - Returns: Whether it waited.
    package func end() -> Bool {
        defer { isAwaited = false }
        return isAwaited
    }
}
