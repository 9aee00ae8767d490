import Testing

@testable import LayoverCore

/// A person knows that the origin has processed a request.
struct SettleTests {
    private static let author = CommandAuthor(who: "admin", from: "127.0.0.1:5")
    private var bench = PendingBench()

    private mutating func settle(_ id: EntryID, status: Int? = nil, note: String? = nil) -> (EntryCommandResult, [PendingAction]) {
        let (result, actions) = bench.set.commanded(
            .settle, id, by: Self.author, outcome: .init(status: status, note: note), now: bench.now)
        return (result, bench.kept(actions))
    }

    @Test mutating func settledEntryIsDeliveredWithoutAnAttempt() {
        let id = bench.parked()
        let (result, actions) = settle(id, status: 201, note: "in the books")
        #expect(result == .done)
        #expect(actions == [.end(id, .settled(note: "in the books"))])
        let entry = bench.entry(id)
        #expect(entry?.state == .delivered && entry?.actions == [])
        #expect(
            entry?.settledBy
                == Settlement(author: Self.author, at: bench.now, outcome: .init(status: 201, note: "in the books")))
        #expect(bench.wait(.seconds(1000)).allSatisfy { $0.started == nil })
        #expect(settle(id).0 == .conflict)
    }

    @Test mutating func childGoesWhenItsParentIsSettled() {
        let parent = bench.accepted()
        _ = bench.fail(parent, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        let child = bench.accepted { $0.parents = [parent] }
        #expect(bench.reason(child) == .parent)
        #expect(settle(parent).1.started == [child])
    }

    @Test mutating func laneGoesOnBehindASettledEntry() {
        let ids = bench.lane(2)
        _ = bench.fail(ids[0], .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        #expect(bench.reason(ids[1]) == .lane)
        #expect(settle(ids[0]).1.started == [ids[1]])
    }

    @Test mutating func recordOfATicketSaysWhoSettledIt() throws {
        let id = bench.accepted()
        _ = bench.fail(id, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        _ = settle(id, note: "seen")
        let record = try #require(bench.set.record(of: id))
        #expect(record.state == .delivered && record.status == nil)
        #expect(record.settledBy?.author == Self.author && record.settledBy?.outcome.note == "seen")
    }
}
