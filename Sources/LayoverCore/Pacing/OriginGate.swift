package import Retry

/// Per origin: may attempts start, and how many at once.
///
/// Shut by a failure that never got as far as sending; opened by any response, and by a connection that stands: it
/// proves the way, however long its response takes. While it is shut one canary at a time tests the way: the next fresh
/// request at once, otherwise an entry when the gate's own delay is over. From its opening on, replays follow in a window
/// that starts at one, or at two where a connection opened it, and grows with each success. Contract: "The gate of an
/// origin" and "Evidence opens gates".
package struct OriginGate: Sendable {
    package private(set) var isShut = false
    /// Whether a connection opened it, and no response has come since.
    package private(set) var isUnconfirmed = false
    /// Replays that may be under way at once.
    package private(set) var window = 1
    /// When a canary may go by itself. Only meaningful while shut.
    package private(set) var canaryAt: Timestamp?
    /// Failures in a row that kept it shut.
    package private(set) var failureCount = 0
    private let windowMax: Int
    /// The widest window that connections alone open, so that a server that accepts and does not answer does not get the whole
    /// backlog. Default: 8.
    private static let unconfirmedWindowMax = 8

    package init(windowMax: Int) {
        self.windowMax = max(1, windowMax)
        window = self.windowMax
    }

    /// Nothing is known of the origin, and much may wait for it: one first.
    package mutating func startCarefully() { window = 1 }

    /// A failure that shuts the gate, or keeps it shut: a failure before sending, or a later one of a canary.
    ///
    /// - Parameters:
    ///   - isFromCanary: Whether the attempt was the one that tested the way. Attempts that began before
    ///     the gate shut say nothing new.
    ///   - delayMax: The longest delay until the next canary.
    package mutating func failed(
        isFromCanary: Bool, delay: DelaySchedule, delayMax: Duration? = nil, now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        guard !isShut || isFromCanary else { return }
        isShut = true
        isUnconfirmed = false
        window = 1
        failureCount += 1
        let delay = delay.delay(afterAttempt: failureCount, using: &generator)
        canaryAt = now + (delayMax.map { min($0, delay) } ?? delay)
    }

    /// The next canary may go at a time at the latest.
    package mutating func canaryMayGo(by time: Timestamp) {
        if let canaryAt { self.canaryAt = min(canaryAt, time) }
    }

    /// The state of the origin, as a response shows it.
    package enum Health: Sendable {
        case well
        /// The response is asked for again: the window gets narrower.
        case busy
        /// As `busy`, but the origin said when to come back: a pause says how many go then (`StatusPacing`).
        case paused
    }

    /// A response, or a connection for a CONNECT.
    package mutating func answered(_ health: Health = .well) {
        failureCount = 0
        canaryAt = nil
        // The canary's own success opens the way for one; each success after it for one more.
        // mutant: wide-window
        let wider = isShut ? 1 : min(windowMax, window + 1)
        switch health {
        case .well: window = wider
        case .busy: window = max(1, wider / 2)
        case .paused: window = isShut ? 1 : window
        }
        isShut = false
        isUnconfirmed = false
    }

    /// Whether the gate is open and its window is as wide as it gets.
    var isFullyOpen: Bool { !isShut && window == windowMax }

    /// A connection stands, TLS included. Until a response comes, each one lets one more follow, so that a slow one keeps
    /// nobody waiting.
    package mutating func connected() {
        guard isShut || isUnconfirmed else { return }
        window = min(windowMax, isShut ? 2 : max(window, min(window + 1, Self.unconfirmedWindowMax)))
        canaryAt = nil
        isShut = false
        isUnconfirmed = true
    }

    /// An attempt went wrong after sending: the origin is there but not well.
    package mutating func wentWrong() {
        window = max(1, window / 2)
    }

    /// Something says that the way may be open: the canary need not wait any longer, and what was learnt
    /// of how long the outage lasts is void.
    package mutating func mayBeReachable(now: Timestamp) {
        guard isShut else { return }
        failureCount = 0
        canaryAt = now
    }

    /// Whether a replay may start.
    package func admits(underWay: Int, freshUnderWay: Int, now: Timestamp) -> Bool {
        // mutant: many-canaries
        if isShut { return underWay == 0 && (canaryAt ?? now) <= now }
        // However many fresh requests there are, one replay goes on: the backlog makes progress too.
        // mutant: one-too-many
        return underWay < window && (underWay == 0 || underWay + freshUnderWay < windowMax)
    }
}
