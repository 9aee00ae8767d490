import Foundation

/// Compares what the clients were told with what the origin saw, and names every promise that was broken.
struct CrashJudge {
    let fates: [CrashLedger.Fate]
    var breaches: [String] = []
    private var tickets: [String: ShownTicket] = [:]
    /// Where in the log of the origin the heads of a request stand.
    private var heads: [String: [Int]] = [:]
    /// Where its first whole response began.
    private var answers: [String: Int] = [:]
    /// The requests that arrived, one after the other.
    private var arrivals: [String] = []

    /// Rounds that ended with SIGTERM: whoever comes then is told to come again.
    private let stoppedRounds: Set<Int>

    init(fates: [CrashLedger.Fate], events: [RecordingOrigin.Event], stoppedRounds: Set<Int>) {
        self.fates = fates
        self.stoppedRounds = stoppedRounds
        let lengths = Dictionary(fates.map { ($0.request.id, $0.request.bodyByteCount) }) { first, _ in first }
        for (index, event) in events.enumerated() {
            switch event {
            case .head(let id, _):
                heads[id, default: []].append(index)
                arrivals.append(id)
                if lengths[id] == nil { breaches.append("The origin received \(id), which nobody sent.") }
            case .body(let id, let length, let isWhole):
                if !isWhole || length != lengths[id] {
                    breaches.append("\(id) arrived with another body: \(length) bytes of \(lengths[id] ?? -1)")
                }
            case .answered(let id, _):
                answers[id] = answers[id] ?? index
            }
        }
    }

    var arrivalCount: Int { arrivals.count }

    mutating func readTickets(of layover: RunningLayover) async throws {
        for fate in fates {
            guard let ticket = fate.ticket else { continue }
            do { tickets[ticket] = try await layover.ticket(ticket) } catch {
                breaches.append("\(fate.request.id): a 202, and then: \(error)")
            }
        }
    }

    mutating func judge() {
        for fate in fates {
            judgeEnd(fate)
            judgeCount(fate)
            judgeParent(fate)
        }
        judgeLanes()
    }

    mutating func check(_ facts: StoreFacts) {
        if facts.integrity != "ok" { breaches.append("The database: \(facts.integrity)") }
        if !facts.leftFiles.isEmpty { breaches.append("Left in the spool: \(facts.leftFiles)") }
        if !facts.missingFiles.isEmpty { breaches.append("Missing in the spool: \(facts.missingFiles)") }
        let live = facts.states.filter { !["delivered", "cancelled"].contains($0.key) }
        if !live.isEmpty { breaches.append("Not delivered and not decided: \(live)") }
        if facts.requestRows > 0 { breaches.append("\(facts.requestRows) requests are kept though all have ended") }
    }

    // MARK: One request

    /// Every 202 is delivered, or was undecided with a reason; and there is one ticket, and one end.
    private mutating func judgeEnd(_ fate: CrashLedger.Fate) {
        let request = fate.request
        let name = "\(request.id) (\(request.method)\(request.hasKey ? ", key" : ""), \(request.way.rawValue), \(request.trouble))"
        if Set(fate.tickets).count > 1 { breaches.append("\(name): several tickets, \(fate.tickets)") }
        var allowed = request.way == .asyncWait ? [200, 502] : []
        if stoppedRounds.isSuperset(of: fate.refusedRounds) { allowed.append(503) }
        for status in fate.otherStatuses where !allowed.contains(status) {
            breaches.append("\(name): its client was answered \(status)")
        }
        if fate.otherStatuses.contains(200), answers[request.id] == nil {
            breaches.append("\(name): a 200 that its origin never gave")
        }
        guard let ticket = fate.ticket, let end = tickets[ticket] else { return }
        switch end.state {
        case "delivered":
            if answers[request.id] == nil { breaches.append("\(name): delivered, but its origin never answered it") }
            if end.response?.status != 200 { breaches.append("\(name): delivered with \(end)") }
            if !fate.asked.isEmpty { breaches.append("\(name): delivered after a person had let it be") }
        case "cancelled":
            if fate.asked.isEmpty { breaches.append("\(name): cancelled, and nobody was asked") }
        default: breaches.append("\(name): \(end)")
        }
        if let firstEnd = fate.firstEnd, !firstEnd.isSameEnd(as: end) { breaches.append("\(name): ended twice: \(firstEnd), then \(end)") }
    }

    private mutating func judgeCount(_ fate: CrashLedger.Fate) {
        let request = fate.request
        let count = heads[request.id]?.count ?? 0
        if !request.isRepeatable, count > 1 { breaches.append("\(request.id): not repeatable, and seen \(count) times") }
        for why in fate.asked {
            let allowed = request.isRepeatable ? ["parentFailed"] : ["parentFailed", "maybeApplied"]
            if !allowed.contains(why) { breaches.append("\(request.id): undecided, '\(why)'") }
            if why == "parentFailed", request.parent == nil || count > 0 {
                breaches.append("\(request.id): parentFailed, with parent \(request.parent?.id ?? "none"), seen \(count) times")
            }
        }
        if fate.asked.count > 1 { breaches.append("\(request.id): a person was asked \(fate.asked.count) times") }
    }

    private mutating func judgeParent(_ fate: CrashLedger.Fate) {
        guard let parent = fate.request.parent, let first = heads[fate.request.id]?.first else { return }
        guard let answered = answers[parent.id], answered < first else {
            breaches.append("\(fate.request.id) was sent before its parent \(parent.id) was answered")
            return
        }
    }

    // MARK: Lanes

    /// In each lane the origin sees the requests in the order in which its client sent them.
    private mutating func judgeLanes() {
        let places = Dictionary(fates.compactMap { fate in fate.request.place.map { (fate.request.id, $0) } }) { first, _ in first }
        var last: [String: Int] = [:]
        for id in arrivals {
            guard let place = places[id] else { continue }
            if place.number < last[place.lane, default: 0] {
                breaches.append("\(place.lane): \(id), number \(place.number), after number \(last[place.lane, default: 0])")
            }
            last[place.lane] = max(place.number, last[place.lane, default: 0])
        }
    }
}

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

/// Content of a store that no process has open, read without any of Layover's code.
package struct StoreFacts: Sendable, Codable {
    /// Result of SQLite's integrity check; "ok" if the file is sound.
    package var integrity: String
    package var states: [String: Int]
    /// Requests that are kept; none of a ticket that has ended.
    package var requestRows: Int
    /// Files of the spool that no row names.
    package var leftFiles: [String]
    /// Files that a row names and that are not there.
    package var missingFiles: [String]

    package static func read(in folder: TemporaryFolder) async throws -> StoreFacts {
        let result = try await Command(
            "/usr/bin/python3",
            ["-B", Fixtures.path("store_facts.py"), folder.file("layover.sqlite").path, folder.file("spool").path]
        ).succeed()
        return try JSONDecoder().decode(StoreFacts.self, from: Data(result.output.utf8))
    }
}
