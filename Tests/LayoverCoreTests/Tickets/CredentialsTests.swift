import Testing

@testable import LayoverCore

/// Tickets with expired credentials are never sent automatically.
struct CredentialsTests {
    private static func bench(
        _ change: (inout PendingBench) -> Void = { _ in }
    ) -> (bench: PendingBench, id: EntryID) {
        var bench = PendingBench()
        change(&bench)
        let notAfter = bench.now + .seconds(10)
        let id = bench.accepted { $0.notAfter = notAfter }
        return (bench, id)
    }

    @Test func ticketIsUndecidedWhenItsCredentialsExpire() {
        var (bench, id) = Self.bench { _ = $0.mode(.offline) }
        #expect(bench.wait(.seconds(9)) == [] && bench.state(id) == .waiting)
        _ = bench.wait(.seconds(1))
        #expect(bench.state(id) == .undecided && bench.why(id) == .credentialsExpired)
        #expect(bench.mode(.auto).started == [])
    }

    @Test func undecidedTicketIsSentWhenAPersonRetriesIt() {
        var (bench, id) = Self.bench { _ = $0.mode(.offline) }
        _ = bench.wait(.seconds(10))
        _ = bench.mode(.auto)
        #expect(bench.command(.retry, id).1.contains(.start(id, .admin)))
        _ = bench.fail(id, .reset, delay: .seconds(1))
        #expect(bench.why(id) == .credentialsExpired, "once; it does not go on by itself")
    }

    @Test func attemptUnderWayMayFinish() {
        var (bench, id) = Self.bench()
        _ = bench.wait(.seconds(20))
        #expect(bench.state(id) == .attempting)
        _ = bench.fail(id, .reset, delay: .seconds(1))
        #expect(bench.why(id) == .credentialsExpired)
    }

    @Test func heldTicketWithExpiredCredentialsIsUndecidedAfterRelease() {
        var (bench, id) = Self.bench { _ = $0.mode(.offline) }
        _ = bench.command(.hold, id)
        _ = bench.wait(.seconds(10))
        #expect(bench.state(id) == .held)
        _ = bench.command(.release, id)
        #expect(bench.why(id) == .credentialsExpired)
    }

    @Test func ticketBlockedInItsLaneIsUndecidedWhenItsCredentialsExpire() {
        var bench = PendingBench()
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
    @Test func noEventStartsATicketWithExpiredCredentials() {
        var (bench, id) = Self.bench()
        _ = bench.fail(id, .refused, delay: .seconds(100))
        bench.now = bench.now + .seconds(10)
        #expect(bench.originAnswered().started == [] && bench.why(id) == .credentialsExpired)
        var other = Self.bench { _ = $0.mode(.offline) }
        other.bench.now = other.bench.now + .seconds(10)
        #expect(other.bench.mode(.auto).started == [])
        #expect(other.bench.why(other.id) == .credentialsExpired)
    }

    @Test func ticketAcceptedWithExpiredCredentialsIsUndecidedAtOnce() {
        var bench = PendingBench()
        let past = bench.now
        let (id, actions) = bench.accept { $0.notAfter = past }
        #expect(actions.started == [] && bench.why(id) == .credentialsExpired)
    }

    @Test func ticketIsUndecidedAfterStoringIfItsCredentialsExpireMeanwhile() {
        var bench = PendingBench()
        let id = bench.held()
        let notAfter = bench.now + .seconds(10)
        _ = bench.willStore(id) { $0.notAfter = notAfter }
        _ = bench.wait(.seconds(10))
        #expect(bench.state(id) == .waiting)
        #expect(bench.stored(id).started + bench.wait(.zero).started == [])
        #expect(bench.why(id) == .credentialsExpired)
    }
}
