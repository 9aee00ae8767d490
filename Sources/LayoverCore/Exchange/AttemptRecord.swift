/// What people are shown of one attempt: how far it got, and what the rules said about it.
package struct AttemptRecord: Sendable, Hashable {
    /// From 1, within its exchange.
    package var number: Int
    package var trigger: AttemptTrigger
    package var startedAt: Timestamp
    /// Nil where nobody carried it: it was rehearsed, or not begun.
    package var path: AttemptPath?
    /// Nil while it is under way.
    package var endedAt: Timestamp?
    /// The failure of the attempt; nil if it did not fail.
    package var failure: Failure?
    /// The status of the response; nil if no response came.
    package var status: Int?
    /// How the connection of an attempt that did not fail was.
    package var connection: ConnectionFacts?
    /// Nil while it is under way.
    package var verdict: Verdict?

    package init(number: Int, trigger: AttemptTrigger, startedAt: Timestamp) {
        self.number = number
        self.trigger = trigger
        self.startedAt = startedAt
    }

    package var evidence: Evidence? { failure?.evidence ?? (endedAt == nil ? nil : .answered) }

    /// Whether the proxy's own store stopped it before anything was sent: then it does not count, and the next one has
    /// its number.
    package var wasStoppedByStore: Bool {
        guard case .park(let parking) = verdict else { return false }
        return parking.rule == .store && evidence == .neverSent
    }
}

/// How far an attempt under way has got.
package struct AttemptProgress: Sendable, Hashable {
    package var phase: FailurePhase
    /// Bytes of the body of its request that were handed over for sending.
    package var bytesSent: Int64

    package init(phase: FailurePhase = .resolving, bytesSent: Int64 = 0) {
        self.phase = phase
        self.bytesSent = bytesSent
    }
}

/// Facts about the connection that an attempt used.
package struct ConnectionFacts: Sendable, Hashable {
    package var localAddress: String?
    /// Says too where a rehearsal had a part in the response.
    package var remoteAddress: String?
    package var reusedConnection: Bool
    /// Bytes of the request, head and body, that were handed to the kernel.
    package var bytesSent: Int64

    package init(localAddress: String?, remoteAddress: String?, reusedConnection: Bool, bytesSent: Int64) {
        self.localAddress = localAddress
        self.remoteAddress = remoteAddress
        self.reusedConnection = reusedConnection
        self.bytesSent = bytesSent
    }
}

/// Why an attempt is made.
package enum AttemptTrigger: String, Sendable, Hashable, CaseIterable {
    /// The request has just come in.
    case arrival
    /// The request is the one that tests the way to an origin whose gate is shut.
    case canary
    /// The delay of the entry is over.
    case dueTime
    /// The network or the origin became reachable.
    case reachability
    /// The request before it in its lane, or the ticket that it depends on, is done.
    case predecessor
    /// A person pressed Retry.
    case admin

    /// Whether the attempt counts against `automaticAttemptsMax`.
    package var isAutomatic: Bool { self != .admin }
}

/// The path by which the bytes of an attempt are carried.
package enum AttemptPath: String, CaseIterable, Sendable {
    /// The HTTP/1.1 exchange of our own, on the event loop of the client.
    case direct
    /// A transfer of libcurl, on a thread of its own.
    case libcurl
}

/// The record of the attempts of one exchange that people will be shown, until the engine is told.
package struct AttemptTimeline: Sendable {
    /// The attempt under way.
    package private(set) var begun: (number: Int, trigger: AttemptTrigger, at: Timestamp)?
    /// The path of the attempt under way.
    private var path: AttemptPath?
    /// Attempts that ended since the engine was told last.
    private var records: [AttemptRecord] = []

    package init() {}

    package mutating func began(_ number: Int, _ trigger: AttemptTrigger, at time: Timestamp) {
        begun = (number, trigger, time)
        path = nil
    }

    /// Sets the path of the attempt under way.
    package mutating func goes(by path: AttemptPath?) { self.path = path }

    /// Writes down the attempt that has ended.
    package mutating func ended(
        at time: Timestamp, _ verdict: Verdict?, failure: Failure?, status: Int?, connection: ConnectionFacts?
    ) {
        guard let begun else { return }
        self.begun = nil
        var record = AttemptRecord(number: begun.number, trigger: begun.trigger, startedAt: begun.at)
        record.endedAt = time
        record.path = path
        record.failure = failure
        record.status = status
        if status != nil { record.connection = connection }
        record.verdict = verdict
        records.append(record)
    }

    /// Each record once.
    package mutating func takeRecords() -> [AttemptRecord] {
        defer { records = [] }
        return records
    }
}

/// How often an exchange was tried, and what that may have done.
package struct AttemptCounts: Sendable, Hashable {
    /// Attempts made so far.
    package var all: Int
    /// Attempts so far that no person asked for.
    package var automatic: Int
    /// Whether any attempt so far may have been applied. It stays so: a later one that never got out changes
    /// nothing about it.
    package var mayHaveBeenApplied: Bool

    package init(all: Int = 0, automatic: Int = 0, mayHaveBeenApplied: Bool = false) {
        self.all = all
        self.automatic = automatic
        self.mayHaveBeenApplied = mayHaveBeenApplied
    }
}
