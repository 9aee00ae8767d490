import Testing

@testable import LayoverCore

/// Tickets with expired credentials are never sent automatically.
struct CredentialsTests {
    private var bench = PendingBench()

    /// A ticket whose credentials expire after ten seconds.
    private mutating func ticket(isOffline: Bool = false) -> EntryID {
        if isOffline { _ = bench.mode(.offline) }
        let notAfter = bench.now + .seconds(10)
        return bench.accepted { $0.notAfter = notAfter }
    }

    @Test mutating func ticketIsUndecidedWhenItsCredentialsExpire() {
        let id = ticket(isOffline: true)
        #expect(bench.wait(.seconds(9)) == [] && bench.state(id) == .waiting)
        _ = bench.wait(.seconds(1))
        #expect(bench.state(id) == .undecided && bench.why(id) == .credentialsExpired)
        #expect(bench.mode(.auto).started == [])
    }

    @Test mutating func undecidedTicketIsSentWhenAPersonRetriesIt() {
        let id = ticket(isOffline: true)
        _ = bench.wait(.seconds(10))
        _ = bench.mode(.auto)
        #expect(bench.command(.retry, id).1.contains(.start(id, .admin)))
        _ = bench.fail(id, .reset, delay: .seconds(1))
        #expect(bench.why(id) == .credentialsExpired, "once; it does not go on by itself")
    }

    @Test mutating func attemptUnderWayMayFinish() {
        let id = ticket()
        _ = bench.wait(.seconds(20))
        #expect(bench.state(id) == .attempting)
        _ = bench.fail(id, .reset, delay: .seconds(1))
        #expect(bench.why(id) == .credentialsExpired)
    }

    @Test mutating func heldTicketWithExpiredCredentialsIsUndecidedAfterRelease() {
        let id = ticket(isOffline: true)
        _ = bench.command(.hold, id)
        _ = bench.wait(.seconds(10))
        #expect(bench.state(id) == .held)
        _ = bench.command(.release, id)
        #expect(bench.why(id) == .credentialsExpired)
    }

    @Test mutating func ticketBlockedInItsLaneIsUndecidedWhenItsCredentialsExpire() {
        let front = bench.lane(1)[0]
        let notAfter = bench.now + .seconds(10)
        let id = bench.lane(1) { $0.notAfter = notAfter }[0]
        let last = bench.lane(1)[0]
        _ = bench.wait(.seconds(10))
        #expect(bench.why(id) == .credentialsExpired)
        #expect(bench.deliver(front).started == [] && bench.reason(last) == .lane)
        #expect(bench.command(.cancel, id).1.started == [last])
    }

    /// A fact may come before the timer that is due.
    @Test mutating func noEventStartsATicketWithExpiredCredentials() {
        let id = ticket()
        _ = bench.fail(id, .refused, delay: .seconds(100))
        bench.now = bench.now + .seconds(10)
        #expect(bench.originAnswered().started == [] && bench.why(id) == .credentialsExpired)
        bench = PendingBench()
        let other = ticket(isOffline: true)
        bench.now = bench.now + .seconds(10)
        #expect(bench.mode(.auto).started == [])
        #expect(bench.why(other) == .credentialsExpired)
    }

    @Test mutating func ticketAcceptedWithExpiredCredentialsIsUndecidedAtOnce() {
        let past = bench.now
        let (id, actions) = bench.accept { $0.notAfter = past }
        #expect(actions.started == [] && bench.why(id) == .credentialsExpired)
    }

    @Test mutating func ticketIsUndecidedAfterStoringIfItsCredentialsExpireMeanwhile() {
        let id = bench.held()
        let notAfter = bench.now + .seconds(10)
        _ = bench.willStore(id) { $0.notAfter = notAfter }
        _ = bench.wait(.seconds(10))
        #expect(bench.state(id) == .waiting)
        #expect(bench.stored(id).started + bench.wait(.zero).started == [])
        #expect(bench.why(id) == .credentialsExpired)
    }
}
