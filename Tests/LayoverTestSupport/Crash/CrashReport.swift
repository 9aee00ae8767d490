/// Result of a run of the crash test.
package struct CrashReport: Sendable {
    package var requestCount = 0
    /// Requests with a 202.
    package var acceptedCount = 0
    /// Requests without a response, because the proxy was gone.
    package var unknownCount = 0
    /// Heads that the origin received.
    package var arrivalCount = 0
    /// Requests that needed a person's decision.
    package var askedCount = 0
    /// Requests with a 202 that are in a lane, after another ticket, or have a body in the spool.
    package var laneCount = 0
    package var childCount = 0
    package var bigCount = 0
    package var startKillCount = 0
    /// Rounds that ended with SIGTERM.
    package var stopCount = 0
    /// Each broken promise in a sentence.
    package var breaches: [String] = []

    mutating func count(_ fates: [CrashLedger.Fate]) {
        requestCount = fates.count
        acceptedCount = fates.count { $0.ticket != nil }
        unknownCount = fates.count { $0.ticket == nil && $0.otherStatuses.isEmpty }
        askedCount = fates.count { !$0.asked.isEmpty }
        laneCount = fates.count { $0.request.place != nil && $0.ticket != nil }
        childCount = fates.count { $0.request.parent != nil && $0.ticket != nil }
        bigCount = fates.count { $0.request.bodyByteCount > 65_536 && $0.ticket != nil }
    }

    package var summary: String {
        "\(requestCount) requests, \(acceptedCount) accepted, \(unknownCount) without an answer, "
            + "\(arrivalCount) arrivals, \(askedCount) undecided, \(laneCount) in lanes, \(childCount) after another, "
            + "\(bigCount) in the spool, \(startKillCount) starts killed, \(stopCount) stops"
    }
}
