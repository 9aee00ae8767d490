import LayoverCore
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// Tickets between the pending set and the store.
struct EngineTicketTests {
    private let disk = MemoryDisk()

    private func bench(
        failing: ClosedRange<Int>? = nil, as failure: StoreFailure = .init(.io, "Broken."), limits: PendingLimits = .init(),
        idSeed: UInt64 = 7, trouble: @escaping @Sendable () -> StoreFailure? = { nil }
    ) async throws -> (EngineBench, MemoryStore) {
        var faults = MemoryFaults(trouble: trouble)
        for number in failing ?? 0...0 { faults.failures[number] = failure }
        let store = MemoryStore(on: disk, faults: faults)
        let bench = await EngineBench(limits: limits, store: store, idSeed: idSeed)
        try await bench.engine.restore(from: store, bootID: "boot", routes: RouteTable())
        return (bench, store)
    }

    // MARK: Acceptance

    @Test func acceptedTicketIsOnDisk() async throws {
        let (bench, store) = try await bench()
        let id = try await bench.ticket()
        let record = try #require(try await store.record(of: id))
        #expect(record.state == .waiting)
        #expect(record.sequence == 1)
        #expect(bench.loop.next().contains { if case .replay(id, _) = $0 { true } else { false } })
    }

    @Test(arguments: [true, false])
    func refusedTicketIsNotInTheSet(mayBeStored: Bool) async throws {
        let failure = StoreFailure(.io, "Broken.", mayBeStored: mayBeStored)
        var limits = PendingLimits()
        limits.entryCountMax = 1
        let (bench, store) = try await bench(failing: 1...1, as: failure, limits: limits)
        let acceptance = bench.acceptance()
        let result = try await bench.accept(acceptance).result()
        #expect(result == .notStored(acceptance.new.id, failure))
        #expect(result.abandonsBody == !mayBeStored)
        #expect(await bench.engine.liveEntries().isEmpty)
        #expect(bench.loop.next().allSatisfy { if case .replay = $0 { false } else { true } })
        #expect(await bench.engine.status().totals.storeFailureCount == 1)
        let id = try await bench.ticket()
        #expect(try await store.record(of: id) != nil, "the next one is well, and has the place of the first")
        #expect(try await bench.accept(bench.acceptance()).result() == .refused(limit: "limits.entries", value: 1))
    }

    @Test func keyIsUsedForOneRequest() async throws {
        let (bench, _) = try await bench()
        let mark = IdempotencyMark(key: Array(repeating: 1, count: 32), payload: Array(repeating: 2, count: 32))
        let first = bench.acceptance(mark: mark)
        #expect(try await bench.accept(first).result().accepted == first.new.id)
        #expect(try await bench.accept(bench.acceptance(mark: mark)).result().duplicate == first.new.id)
        let other = IdempotencyMark(key: mark.key, payload: Array(repeating: 3, count: 32))
        #expect(try await bench.accept(bench.acceptance(mark: other)).result() == .keyReused)
        #expect(await bench.engine.liveEntries().count == 1)
    }

    @Test func withoutAStoreNothingIsAccepted() async throws {
        let bench = await EngineBench()
        #expect(try await bench.accept(bench.acceptance()).result() == .refused(limit: "store.path", value: 0))
    }

    @Test func drainingAcceptsNothing() async throws {
        let (bench, _) = try await bench()
        await bench.engine.drain()
        #expect(try await bench.accept(bench.acceptance()).result() == .draining)
    }

    // MARK: Parents

    @Test func anUnknownParentIsRefused() async throws {
        let (bench, _) = try await bench()
        let unknown = bench.exchange().id
        #expect(try await bench.accept(bench.acceptance(after: [unknown])).result() == .unknownParent(unknown))
    }

    @Test func unreadableParentIsNotUnknown() async throws {
        let (bench, store) = try await bench()
        await store.close()
        let acceptance = bench.acceptance(after: [bench.exchange().id])
        guard case .notStored(acceptance.new.id, let failure) = try await bench.accept(acceptance).result() else {
            Issue.record("a store that cannot be read says nothing about a ticket")
            return
        }
        #expect(failure.kind == .closed)
    }

    @Test func parentOfAnEarlierRunCountsWithItsFinalState() async throws {
        let (first, store) = try await bench()
        let (delivered, cancelled) = (try await first.ticket(), try await first.ticket())
        await first.deliver(delivered)
        _ = await first.engine.command(.cancel, cancelled)
        try await first.waitUntilSaved(delivered)
        store.die()
        let (bench, _) = try await self.bench(idSeed: 8)
        #expect(await bench.engine.entry(try bench.ticket(after: [delivered]))?.state == .attempting)
        let orphan = try await bench.ticket(after: [delivered, cancelled])
        #expect(await bench.engine.entry(orphan)?.why == .parentFailed)
    }

    // MARK: Saving

    @Test func refusedChangeIsSavedAgainUntilTheStoreTakesIt() async throws {
        let isBroken = Watched(false)
        let (bench, store) = try await bench(trouble: { isBroken.value ? StoreFailure(.io, "Broken.") : nil })
        let id = try await bench.ticket()
        isBroken.update { $0 = true }
        let response = StoredResponse(status: 201, fields: ByteBuffer(string: "A: b\r\n"), body: .inline(ByteBuffer(string: "x")))
        await bench.deliver(id, response)
        #expect(await !bench.engine.isSaved(id))
        #expect(try await store.record(of: id)?.state != .delivered)
        isBroken.update { $0 = false }
        try await bench.waitUntilSaved(id)
        #expect(try await store.record(of: id)?.state == .delivered)
        #expect(try await store.response(of: id) == response)
    }

    /// Cancelled, not on disk yet, and dropped again: the second must not take the place of the first.
    @Test func unsavedCancelIsKeptBesideLaterChanges() async throws {
        let isBroken = Watched(false)
        let (bench, store) = try await bench(trouble: { isBroken.value ? StoreFailure(.io, "Broken.") : nil })
        let id = try await bench.ticket()
        isBroken.update { $0 = true }
        for _ in 0..<3 {
            #expect(try await bench.engine.dropTicket(id) == .unsaved(StoreFailure(.io, "Broken.")))
        }
        isBroken.update { $0 = false }
        var isDropped = false
        while !isDropped { isDropped = try await bench.engine.dropTicket(id) == .dropped }
        #expect(try await store.record(of: id)?.state == .cancelled, "whoever is told so finds it so after a crash")
        store.die()
        let (next, _) = try await self.bench()
        #expect(await next.engine.liveEntries().isEmpty)
    }

    @Test func unsavedResponseIsKeptBesideLaterChanges() async throws {
        let isBroken = Watched(false)
        let (bench, store) = try await bench(trouble: { isBroken.value ? StoreFailure(.io, "Broken.") : nil })
        let id = try await bench.ticket()
        isBroken.update { $0 = true }
        await bench.deliver(id)
        #expect(try await bench.engine.dropTicket(id) == .unsaved(StoreFailure(.io, "Broken.")))
        isBroken.update { $0 = false }
        try await bench.waitUntilSaved(id)
        #expect(try await store.record(of: id)?.state == .delivered)
    }

    @Test func commandCompletesWhenItIsOnDisk() async throws {
        let gate = Watched<[@Sendable () -> Void]>([])
        let isShut = Watched(false)
        let store = MemoryStore(
            on: disk,
            schedule: { work in
                if isShut.value { gate.update { $0.append(work) } } else { Task.detached { work() } }
            })
        let bench = await EngineBench(store: store)
        let id = try await bench.ticket()
        await bench.engine.command(.hold, id).1.map { #expect($0.state == .held || $0.state == .attempting) }
        isShut.update { $0 = true }
        let answered = Watched(false)
        let command = Task {
            let result = await bench.engine.command(.cancel, id).0
            answered.update { $0 = true }
            return result
        }
        try await gate.wait("work for the store") { !$0.isEmpty }
        await bench.settle()
        #expect(!answered.value)
        isShut.update { $0 = false }
        while !answered.value {
            let works = gate.value
            gate.update { $0.removeFirst(works.count) }
            for work in works { work() }
            await Task.yield()
        }
        #expect(await command.value == .done)
        #expect(try await store.record(of: id)?.state == .cancelled)
    }

    @Test func watchersAreNotifiedOfTheEndWhenItIsSaved() async throws {
        let (bench, store) = try await bench()
        let id = try await bench.ticket()
        let heard = Watched(0)
        let number = await bench.engine.watchTicket(id) { heard.update { $0 += 1 } }
        await bench.deliver(id)
        try await heard.wait("word of the ticket") { $0 > 0 }
        #expect(await bench.engine.isSaved(id))
        #expect(try await store.record(of: id)?.state == .delivered)
        await bench.engine.unwatchTicket(id, number)
        #expect(await bench.engine.saver.watchers.isEmpty)
    }

    @Test func responseAfterTheEndIsHandedToTheStoreForRemoval() async throws {
        let folder = try SpoolFolder()
        let store = MemoryStore(on: MemoryDisk(spoolFolder: folder.path))
        let bench = await EngineBench(store: store)
        let id = try await bench.ticket()
        _ = await bench.engine.command(.cancel, id)
        try FileContent.write([1, 2, 3], to: folder.path + "/\(id).answer")
        await bench.deliver(id, .init(status: 200, fields: ByteBuffer(), body: .file(name: "\(id).answer", byteCount: 3)))
        try await bench.waitUntilSaved(id)
        #expect(folder.files.isEmpty)
        #expect(try await store.record(of: id)?.state == .cancelled)
        #expect(await bench.engine.saver.responses.isEmpty)
    }

    // MARK: From hold to ticket

    @Test func entryThatEndedMeanwhileIsNotATicket() async throws {
        let (bench, store) = try await bench()
        let exchange = AskingExchange(id: bench.exchange().id)
        let acceptance = bench.acceptance(of: exchange.id)
        bench.engine.post(.becomeTicket(acceptance, exchange))
        #expect(try await exchange.recorder.result() == .gone)
        #expect(try await store.record(of: exchange.id) == nil)
    }

    @Test(arguments: [true, false])
    func entryBecomesATicketOrStaysHeld(isStored: Bool) async throws {
        let (bench, store) = try await bench(failing: isStored ? nil : 1...1)
        let exchange = AskingExchange(id: bench.exchange().id)
        let acceptance = bench.acceptance(of: exchange.id)
        var new = acceptance.new
        new.ticket = nil
        new.failure = EngineBench.refused
        new.tally.counts.all = 1
        new.parking = .init(delay: .seconds(5), shutsGate: true)
        bench.engine.post(ParkRequested(new), from: exchange)
        bench.engine.post(.becomeTicket(acceptance, exchange))
        let result = try await exchange.recorder.result()
        await bench.settle()
        let entry = try #require(await bench.engine.entry(exchange.id))
        if isStored {
            #expect(result.accepted == exchange.id)
            #expect(entry.ticket != nil)
            #expect(!entry.client.isConnected)
            #expect(try await store.record(of: exchange.id)?.state == .waiting)
        } else {
            #expect(entry.ticket == nil)
            #expect(entry.client.isConnected)
        }
        _ = await bench.engine.command(.retry, exchange.id)
        #expect(exchange.held.next().contains(.start(.admin)) == !isStored, "at rest it needs no exchange of before")
    }

    // MARK: After a restart

    @Test func nextProcessResumesTheTickets() async throws {
        let (first, store) = try await bench()
        let (waiting, once, again) = (try await first.ticket(), try await first.ticket(), try await first.ticket(repeatable: true))
        for id in [once, again] {
            let revision = try #require(await first.engine.entry(id)?.revision)
            #expect(try await store.commit([.started(id, revision: revision, counts: AttemptCounts())]) == [.done])
        }
        store.die()
        let (bench, next) = try await self.bench(idSeed: 8)
        #expect(await bench.engine.liveEntries().count == 3)
        #expect(await bench.engine.entry(once)?.why == .maybeApplied)
        #expect(await bench.engine.entry(waiting)?.state.isFinal == false)
        #expect(await bench.engine.entry(again)?.state != .undecided)
        #expect(try next.lastSequence() == 3)
        let new = try await bench.ticket()
        #expect(try await next.record(of: new)?.sequence == 4, "no sequence is used twice")
    }
}

/// An entry that asks for a ticket.
private final class AskingExchange: HeldExchange, AcceptingExchange {
    let held: RecordingExchange
    let recorder = AcceptingRecorder()

    init(id: EntryID) { held = RecordingExchange(id: id) }

    var id: EntryID { held.id }

    func acceptance(_ result: AcceptanceResult) { recorder.acceptance(result) }
    func start(_ trigger: AttemptTrigger, isForced: Bool) { held.start(trigger, isForced: isForced) }
    func abandonConnecting() { held.abandonConnecting() }
    func abortAttempt(isCommanded: Bool) { held.abortAttempt(isCommanded: isCommanded) }
    func dropResponse() { held.dropResponse() }
    func deliverResponse(_ reason: Verdict.DeliverReason) { held.deliverResponse(reason) }
    func lookForOthers() { held.lookForOthers() }
    func offerTicket() { held.offerTicket() }
    func end(_ end: EntryEnd, retryAfter: Duration?) { held.end(end, retryAfter: retryAfter) }
    func refuse(limit: String, value: Int) { held.refuse(limit: limit, value: value) }
}
