package import LayoverCore
package import LayoverEngine
import LayoverHTTP

extension EntryID {
    /// The id of a test's n-th ticket.
    package static func fixture(_ number: Int) -> EntryID {
        EntryID(high: 0x1234_5678_9ABC_DEF0, low: UInt64(number))
    }
}

extension TicketRecord {
    /// A plain ticket that waits.
    package static func fixture(
        _ number: Int, revision: Int = 1, state: EntryState = .waiting, why: UndecidedReason? = nil
    ) -> TicketRecord {
        let origin = Origin(scheme: .https, host: "api.example.com")
        let time = Timestamp(nanoseconds: 1_700_000_000_000_000_000 + Int64(number) * 1_000_000_000)
        let request = RequestDescription(
            id: .fixture(number), method: "POST", url: "https://api.example.com/things/\(number)", origin: origin, createdAt: time)
        var standing = RequestStanding(
            client: .init(address: "127.0.0.1:1234", isConnected: false), parkedAt: time, dueAt: time,
            expiresAt: time + .seconds(3600))
        standing.revision = revision
        standing.endedAt = state.isFinal ? time : nil
        return TicketRecord(
            request, standing, sequence: number, state: state, why: why, policy: "outbox", isRepeatable: false)
    }

    /// A ticket with something in every place.
    package static func everything(_ number: Int) -> TicketRecord {
        var record = fixture(number, revision: 7, state: .undecided, why: .maybeApplied)
        record.route = "a route"
        record.ticket.wish = PolicyWish(name: "ask", mode: .defer)
        record.ticket.baseURL = .keyed
        record.priority = 0
        record.lane = "späte Züge \u{1F682}"
        record.ticket.parents = [.fixture(900), .fixture(901)]
        record.client = .init(address: "[::1]:80", isConnected: true, userAgent: "")
        record.counts = AttemptCounts(all: 5, automatic: 4, mayHaveBeenApplied: true)
        record.isRepeatable = true
        record.request.hasIdempotencyKey = true
        record.request.isExposed = true
        record.isHeldBack = true
        record.isForced = true
        record.isAskedFor = true
        record.hasOwnDeadline = true
        record.hasOwnPriority = true
        record.excusedParents = [.fixture(901)]
        record.requestByteCount = 1 << 40
        record.ticket.notAfter = Timestamp(nanoseconds: -1)
        record.dueAt = .distantFuture
        record.lastFailure = .fixture
        record.lastFailureAt = Timestamp(nanoseconds: .min)
        record.request.preconditions = "if-match: \"1\""
        record.attempts = .fixture
        record.lastCommand = CommandRecord(
            name: .force, author: .init(who: "admin", from: "[::1]:9"), at: Timestamp(nanoseconds: -7), reason: "schon gebucht \u{1F682}")
        return record
    }
}

extension StoredRequest {
    package static func fixture(_ body: StoredBody = .none) -> StoredRequest {
        StoredRequest(
            origin: Origin(scheme: .https, host: "api.example.com"), method: "POST", target: "/things?a=b%20",
            host: "api.example.com", fields: ["Accept": "*/*", "X-Empty": "", "X-Binary": "\u{FF}"],
            body: body, hasBody: body != .none)
    }
}

extension Failure {
    package static let fixture = Failure(
        phase: .awaitingResponse, kind: .connectionTerminated, evidence: .maybeApplied,
        message: "The connection ended — früh.", curlCode: 56, osError: -104, bytesSent: 1 << 50, reusedConnection: true,
        localAddress: "10.0.0.1:5", remoteAddress: nil, isNameUnknown: true)
}

extension AttemptLog {
    /// One attempt for each kind of verdict, and one that is under way.
    package static var fixture: AttemptLog {
        let delay = Duration(secondsComponent: 1, attosecondsComponent: 123_456_789_012_345_678)
        let standIn = StandInResponse(status: 202, fields: [.init(name: "A", value: "b")], body: "later")
        let verdicts: [Verdict?] = [
            .againOnNewConnection, .park(.init(delay: delay, shutsGate: true)),
            .park(.init(delay: .zero, shutsGate: false, asks: .exhausted, rule: .onExhausted)), .deliver(.answered),
            .standIn(standIn), .fail(.notInRetryOn), nil,
        ]
        var records: [AttemptRecord] = []
        for (index, verdict) in verdicts.enumerated() {
            var record = AttemptRecord(
                number: index + 1, trigger: .dueTime, startedAt: Timestamp(nanoseconds: Int64(index) - 3))
            record.verdict = verdict
            record.endedAt = verdict.map { _ in Timestamp(nanoseconds: .max) }
            record.failure = index.isMultiple(of: 2) ? .fixture : nil
            record.status = index == 3 ? 503 : nil
            record.connection =
                index == 3
                ? ConnectionFacts(localAddress: nil, remoteAddress: "1.2.3.4:5", reusedConnection: false, bytesSent: 9)
                : nil
            records.append(record)
        }
        return AttemptLog(records: records, droppedCount: 12)
    }
}

extension NewEntry {
    /// A new entry of a test, with what most of them leave out.
    package init(
        id: EntryID, method: String, url: String, origin: Origin, route: String? = nil, policy: Policy = .standard,
        client: Entry.Client, createdAt: Timestamp, attemptCount: Int = 0, automaticLeft: Int? = nil, requestByteCount: Int = 0,
        isBodyReplayable: Bool = true, isExposed: Bool = false, attempts: [AttemptRecord] = [], failure: Failure? = nil,
        parking: Verdict.Parking
    ) {
        self.init(
            RequestDescription(id: id, method: method, url: url, origin: origin, createdAt: createdAt, isExposed: isExposed),
            client: client, route: route, policy: policy,
            AttemptTally(
                AttemptCounts(all: attemptCount), automaticLeft: automaticLeft, isBodyReplayable: isBodyReplayable,
                records: attempts),
            requestByteCount: requestByteCount, failure: failure, parking: parking)
    }
}
