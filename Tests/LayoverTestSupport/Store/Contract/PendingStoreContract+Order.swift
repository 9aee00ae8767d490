import Glibc
import LayoverCore
import LayoverEngine
import NIOCore
import Synchronization

extension PendingStoreContract {
    /// The changes that were completed so far, in order.
    private final class Completions: Sendable {
        private let numbers = Mutex<[Int]>([])
        var all: [Int] { numbers.withLock { $0 } }
        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    static let order: [Check] = [
        Check(name: "completions come in the order of the calls, each once, never from within") { room in
            let completions = Completions()
            try await room.withStore { store in
                let calling = Mutex<pthread_t?>(nil)
                let isWithin = Mutex(false)
                for number in 1...300 {
                    calling.withLock { $0 = pthread_self() }
                    store.commit([.insert(.fixture(number), .fixture(), nil)]) { _ in
                        if calling.withLock({ $0 }) == pthread_self() { isWithin.withLock { $0 = true } }
                        completions.add(number)
                    }
                    calling.withLock { $0 = nil }
                }
                let last = try await store.commit([.update(.fixture(300, revision: 2, state: .held))])
                try require(last, is: [.done])
                try require(completions.all, is: Array(1...300))
                try require(!isWithin.withLock { $0 }, "a completion came from within its call")
                try require(try store.live().count, is: 300)
            }
        },
        .inOneStore("a call is committed whole or not at all, and spoils no other one") { store in
            var wrong = TicketRecord.fixture(5)
            wrong.endedAt = wrong.createdAt
            let results = Mutex<[Bool]>([])
            let note: @Sendable (Result<[StoreResult], StoreFailure>) -> Void = { result in
                results.withLock { $0.append((try? result.get()) != nil) }
            }
            store.commit([.insert(.fixture(1), .fixture(), nil)], done: note)
            store.commit([.insert(.fixture(2), .fixture(), nil), .insert(wrong, .fixture(), nil)], done: note)
            store.commit([.insert(.fixture(3), .fixture(), nil)], done: note)
            var taken = TicketRecord.fixture(6)
            taken.sequence = 1
            store.commit([.insert(taken, .fixture(), nil), .insert(.fixture(7), .fixture(), nil)], done: note)
            try require(try await store.commit([]), is: [])
            try require(results.withLock { $0 }, is: [true, false, true, false])
            try require(try store.live().map(\.sequence), is: [1, 3])
        },
        .inOneStore("what contradicts itself is refused") { store in
            _ = try await store.apply(.insert(.fixture(1), .fixture(), nil))
            let wrongs: [(inout TicketRecord) -> Void] = [
                { $0.why = .exhausted }, { $0.state = .undecided }, { $0.state = .failed },
                { $0.endedAt = $0.createdAt }, { $0.ticket.status = 200 }, { $0.priority = 8 },
                { $0.counts = AttemptCounts(all: 1, automatic: 2) },
            ]
            for (index, spoil) in wrongs.enumerated() {
                var record = TicketRecord.fixture(1, revision: 2)
                spoil(&record)
                let result = try? await store.apply(.update(record))
                try require(result == nil, "the record number \(index) was taken")
            }
            try require(try store.live(), is: [.fixture(1)])
        },
        Check(name: "a closed store refuses, and what was handed in before is there") { room in
            let store = try await room.open(room.folder)
            let completions = Completions()
            for number in 1...50 {
                store.commit([.insert(.fixture(number), .fixture(), nil)]) { _ in completions.add(number) }
            }
            await store.close()
            try require(completions.all, is: Array(1...50))
            do {
                _ = try await store.commit([.insert(.fixture(60), .fixture(), nil)])
                throw ContractBreach(description: "a closed store took a change")
            } catch let failure as StoreFailure { try require(failure.kind, is: .closed) }
            do {
                _ = try await store.record(of: .fixture(1))
                throw ContractBreach(description: "a closed store was read")
            } catch let failure as StoreFailure { try require(failure.kind, is: .closed) }
            await store.close()
            try await room.withStore { try require(try $0.live().count, is: 50) }
        },
    ]
}
