import LayoverEngine
import LayoverTestSupport
import Synchronization
import Testing

/// The double that simulations run on does what it is told to.
@Suite final class MemoryStoreTests: Sendable {
    /// Work that waits until the test runs it.
    private final class Agenda: Sendable {
        private let works = Mutex<[@Sendable () -> Void]>([])
        func add(_ work: @escaping @Sendable () -> Void) { works.withLock { $0.append(work) } }
        func run() {
            while let work = works.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { work() }
        }
    }

    private let disk = MemoryDisk()
    private let agenda = Agenda()
    private let told = Mutex<[Int]>([])

    private func store(_ faults: MemoryFaults = MemoryFaults()) -> MemoryStore {
        MemoryStore(on: disk, faults: faults) { [agenda] in agenda.add($0) }
    }

    private func insert(_ number: Int, in store: MemoryStore) {
        store.commit([.insert(.fixture(number), .fixture(), nil)]) { [self] result in
            told.withLock { $0.append((try? result.get()) == nil ? -number : number) }
        }
    }

    @Test func nothingHappensBeforeItsTime() throws {
        let store = store()
        insert(1, in: store)
        insert(2, in: store)
        #expect(told.withLock { $0 } == [])
        #expect(try store.live().isEmpty)
        agenda.run()
        #expect(told.withLock { $0 } == [1, 2])
        #expect(store.commitCount == 1)
        #expect(store.crashPointCount == 3)
    }

    @Test(arguments: [false, true])
    func aFailedCommitIsAbsentOrUnknown(mayBeStored: Bool) throws {
        let store = store(MemoryFaults(failures: [2: StoreFailure(.io, "Broken.", mayBeStored: mayBeStored)]))
        for number in 1...2 {
            insert(number, in: store)
            agenda.run()
        }
        #expect(told.withLock { $0 } == [1, -2])
        #expect(store.condition.failure?.kind == .io)
        #expect(try store.live().map(\.sequence) == [1])
        #expect(try self.store().live().map(\.sequence) == (mayBeStored ? [1, 2] : [1]))
    }

    @Test func uncertainChangeIsGoneAfterTheNextCommit() throws {
        let store = store(MemoryFaults(failures: [1: StoreFailure(.io, "Broken.", mayBeStored: true)]))
        for number in 1...2 {
            insert(number, in: store)
            agenda.run()
        }
        #expect(store.condition.failure == nil)
        #expect(try self.store().live().map(\.sequence) == [2])
    }

    @Test(arguments: [(1, [], []), (2, [], [1, 2]), (3, [1], [1, 2]), (4, [1, 2], [1, 2]), (9, [1, 2, 3], [1, 2, 3])])
    func storeStopsAtItsCrashPoint(point: Int, heard: [Int], kept: [Int]) throws {
        let died = Mutex(0)
        let store = store(MemoryFaults(crashPoint: point) { died.withLock { $0 += 1 } })
        insert(1, in: store)
        insert(2, in: store)
        agenda.run()
        insert(3, in: store)
        agenda.run()
        #expect(told.withLock { $0 } == heard)
        #expect(died.withLock { $0 } == (point < 7 ? 1 : 0))
        #expect(store.isDead == (point < 7))
        #expect(try self.store().live().map(\.sequence) == kept)
    }
}
