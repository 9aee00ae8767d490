import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverEngine

/// A store that could not be opened at the start.
struct UnavailableStoreTests {
    private let place = UnavailableStore(Self.readOnly)
    private static let readOnly = StoreFailure(.readOnly, "Read-only file system.")
    private static let other = Origin(scheme: .http, host: "other.test")
    private let disk = MemoryDisk()

    @Test func everyCallFailsWithTheReasonUntilTheStoreOpens() async throws {
        #expect(!place.isOpen)
        #expect(place.condition.failure == Self.readOnly)
        await #expect(throws: Self.readOnly) { _ = try await place.commit([]) }
        await #expect(throws: Self.readOnly) { _ = try await place.record(of: EntryID(high: 1, low: 1)) }
        #expect(throws: Self.readOnly) { try place.lastSequence() }
        let full = StoreFailure(.full, "Full.")
        place.openingFailed(full)
        await #expect(throws: full) { _ = try await place.request(of: EntryID(high: 1, low: 1)) }
    }

    @Test func callsGoToTheStoreOnceItIsOpen() async throws {
        #expect(place.opened(MemoryStore(on: disk)))
        #expect(place.isOpen)
        #expect(place.condition.failure == nil)
        #expect(try await place.commit([]) == [])
        #expect(!place.opened(MemoryStore(on: disk)), "nothing takes its place again")
        place.openingFailed(Self.readOnly)
        #expect(place.isOpen)
    }

    @Test func closedStandInIsNeverOpened() async throws {
        await place.close()
        #expect(!place.opened(MemoryStore(on: disk)))
        await #expect(throws: StoreFailure.self) { _ = try await place.commit([]) }
    }

    // MARK: The engine

    /// A bench whose store is not there yet, and on the disk what an earlier run accepted.
    private func benchAfterARun(tickets count: Int) async throws -> (EngineBench, UnavailableStore, [EntryID]) {
        let first = await EngineBench(store: MemoryStore(on: disk), idSeed: 1)
        var ids: [EntryID] = []
        for _ in 0..<count { ids.append(try await first.ticket()) }
        return (await EngineBench(store: place, idSeed: 2), place, ids)
    }

    @Test func noTicketIsAcceptedBeforeTheStoreOpens() async throws {
        let (bench, _, _) = try await benchAfterARun(tickets: 0)
        let acceptance = bench.acceptance()
        #expect(try await bench.accept(acceptance).result() == .notStored(acceptance.new.id, Self.readOnly))
        #expect(await bench.engine.storeStatus()?.condition.failure == Self.readOnly)
        await #expect(throws: Self.readOnly) { _ = try await bench.engine.ticket(EntryID(high: 1, low: 1)) }
    }

    @Test func ticketsOfAnEarlierRunAreResumedWhenTheStoreOpens() async throws {
        let (bench, place, ids) = try await benchAfterARun(tickets: 3)
        let held = bench.exchange()
        await bench.park(held)
        let store = MemoryStore(on: disk)
        #expect(try await bench.engine.restore(from: store, replacing: place, bootID: "boot"))
        let live = await bench.engine.liveEntries()
        #expect(Set(live.map(\.id)) == Set(ids + [held.id]))
        let new = try await bench.ticket()
        let record = try #require(try await store.record(of: new))
        #expect(record.sequence > 3)
    }

    /// What waits with its client has numbers from before the store was there; none of them is used twice.
    @Test func heldRequestBecomesATicketOnceTheStoreOpens() async throws {
        let (bench, place, ids) = try await benchAfterARun(tickets: 3)
        var held: [RecordingExchange] = []
        for _ in 0..<3 {
            held.append(bench.exchange())
            await bench.park(held[held.count - 1])
        }
        let store = MemoryStore(on: disk)
        #expect(try await bench.engine.restore(from: store, replacing: place, bootID: "boot"))
        let page = await bench.engine.page(of: PendingQuery())
        #expect(page.entries.map(\.id) == ids + held.map(\.id), "what was accepted before comes first")
    }

    @Test func storeThatOpensDuringADrainIsNotUsed() async throws {
        let (bench, place, _) = try await benchAfterARun(tickets: 1)
        await bench.engine.drain()
        #expect(try await bench.engine.restore(from: MemoryStore(on: disk), replacing: place, bootID: "boot") == false)
        #expect(await bench.engine.liveEntries().isEmpty)
        #expect(!place.isOpen)
    }

    // MARK: Keys

    @Test func keyIsUnknownUntilTheStoreOpens() async throws {
        let (bench, place, _) = try await benchAfterARun(tickets: 0)
        let (claim, exchange) = (bench.engine.nextClaim(), RecordingKeyed())
        bench.engine.post(.asked(claim, key: [1], payload: [2], .needed, exchange))
        try await exchange.decisions.wait("a decision") { !$0.isEmpty }
        #expect(exchange.decisions.value == ["wait for the store"])
        #expect(try await bench.engine.restore(from: MemoryStore(on: disk), replacing: place, bootID: "boot"))
        try await exchange.decisions.wait("another decision") { $0.count > 1 }
        #expect(exchange.decisions.value == ["wait for the store", "go"])
        bench.engine.post(.ended(claim, nil))
    }

    @Test func keyIsNewWhereNoStoreEverOpens() async throws {
        let bench = await EngineBench(store: UnavailableStore(Self.readOnly, opensLater: false))
        let (claim, exchange) = (bench.engine.nextClaim(), RecordingKeyed())
        bench.engine.post(.asked(claim, key: [1], payload: [2], .needed, exchange))
        try await exchange.decisions.wait("a decision") { !$0.isEmpty }
        #expect(exchange.decisions.value == ["go"])
        bench.engine.post(.ended(claim, nil))
    }

    // MARK: Lanes

    /// The store of an earlier run has a ticket of the lane, which comes first.
    @Test func requestWithALaneWaitsUntilTheStoreOpens() async throws {
        let first = await EngineBench(store: MemoryStore(on: disk), idSeed: 1)
        let ticket = try await first.ticket(lane: "a")
        let bench = await EngineBench(store: place, idSeed: 2)
        let (inLane, alone) = (bench.exchange(), bench.exchange())
        // The origin of the ticket sends one at a time after a restart.
        await bench.park(inLane, failure: nil, to: Self.other, lane: "a")
        await bench.park(alone, failure: nil)
        #expect(inLane.next() == [])
        #expect(alone.next() == [.start(.arrival)])
        #expect(await bench.engine.entry(inLane.id)?.waitingFor == .lane)
        _ = await bench.engine.command(.retry, inLane.id)
        #expect(inLane.next() == [], "nobody knows what comes before it")
        #expect(try await bench.engine.restore(from: MemoryStore(on: disk), replacing: place, bootID: "boot"))
        #expect(await bench.engine.entry(inLane.id)?.waitingOn == ticket)
        #expect(inLane.next() == [])
        _ = await bench.engine.command(.cancel, ticket)
        #expect(inLane.next() == [.start(.admin)])
    }

    @Test func firstOfALaneGoesWhenTheStoreHasNoneOfIt() async throws {
        let (bench, place, _) = try await benchAfterARun(tickets: 1)
        let (one, two) = (bench.exchange(), bench.exchange())
        await bench.park(one, failure: nil, to: Self.other, lane: "a")
        await bench.park(two, failure: nil, to: Self.other, lane: "a")
        #expect(try await bench.engine.restore(from: MemoryStore(on: disk), replacing: place, bootID: "boot"))
        #expect(one.next().contains { if case .start = $0 { true } else { false } })
        #expect(two.next() == [])
    }

    @Test func laneDoesNotWaitWhereNoStoreEverOpens() async throws {
        let bench = await EngineBench(store: UnavailableStore(Self.readOnly, opensLater: false))
        let one = bench.exchange()
        await bench.park(one, failure: nil, lane: "a")
        #expect(one.next() == [.start(.arrival)])
    }
}

/// A request with a key that keeps what is decided about it.
private final class RecordingKeyed: KeyedExchange {
    let decisions = Watched<[String]>([])

    func keyDecided(_ decision: KeyDecision) {
        let word =
            switch decision {
            case .go: "go"
            case .waitForStore: "wait for the store"
            default: "\(decision)"
            }
        decisions.update { $0.append(word) }
    }
}
