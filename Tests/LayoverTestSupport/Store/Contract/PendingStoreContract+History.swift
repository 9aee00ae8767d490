import LayoverCore
import LayoverEngine
import NIOCore

extension PendingStoreContract {
    private static func end(_ number: Int, at seconds: Int64) -> TicketRecord {
        var record = TicketRecord.fixture(number, revision: 2, state: .delivered)
        record.endedAt = Timestamp(nanoseconds: seconds)
        return record
    }

    static let history: [Check] = [
        Check(name: "ended tickets are removed oldest first, at most so many, live ones never") { room in
            let file = "\(EntryID.fixture(1)).answer"
            try await room.withStore { store in
                try room.makeFile(file)
                _ = try await store.commit((1...5).map { .insert(.fixture($0), .fixture(), nil) })
                let kept = StoredResponse(
                    status: 200, fields: ByteBuffer(), body: .file(name: file, byteCount: 3))
                _ = try await store.apply(.delivered(end(1, at: 10), kept))
                for (number, time) in [(2, 40), (3, 20), (4, 30)] {
                    _ = try await store.apply(.update(end(number, at: Int64(time))))
                }
                let limit = Timestamp(nanoseconds: 40)
                try require(try await store.removeEnded(before: limit, limit: 2), is: 2)
                for (number, isThere) in [(1, false), (2, true), (3, false), (4, true), (5, true)] {
                    try require(try await store.record(of: .fixture(number)) != nil, is: isThere)
                }
                try require(try await store.response(of: .fixture(1)), is: nil)
                try require(try await store.removeEnded(before: limit, limit: 2), is: 1)
                try require(try await store.removeEnded(before: limit, limit: 2), is: 0)
                try require(try await store.removeEnded(before: .distantFuture, limit: 0), is: 0)
                try require(try await store.removeEnded(before: .distantFuture, limit: 9), is: 1)
            }
            try require(!room.hasFile(file), "the answer's body goes with its ticket")
            try await room.withStore { try require(try $0.live().map(\.sequence), is: [5]) }
        },
        .inOneStore("ids are those of all tickets that are kept, live or final") { store in
            try require(try await store.ids(), is: [])
            _ = try await store.commit((1...3).map { .insert(.fixture($0), .fixture(), nil) })
            for number in 1...2 { _ = try await store.apply(.update(end(number, at: Int64(number)))) }
            try require(Set(try await store.ids()), is: Set((1...3).map { .fixture($0) }))
            _ = try await store.removeEnded(before: .distantFuture, limit: 1)
            try require(Set(try await store.ids()), is: Set((2...3).map { .fixture($0) }))
        },
        .inOneStore("a ticket stays as long as a live one depends on it") { store in
            var child = TicketRecord.fixture(9)
            child.ticket.parents = [.fixture(1), .fixture(3)]
            _ = try await store.commit(
                (1...4).map { .insert(.fixture($0), .fixture(), nil) } + [.insert(child, .fixture(), nil)])
            for number in 1...4 { _ = try await store.apply(.update(end(number, at: Int64(number)))) }
            try require(try await store.removeEnded(before: .distantFuture, limit: 1), is: 1)
            try require(try await store.record(of: .fixture(2)), is: nil)
            try require(try await store.removeEnded(before: .distantFuture, limit: 9), is: 1)
            try require(try store.endStates(of: child.parents).count, is: 2)
            var ended = child
            (ended.revision, ended.state, ended.endedAt) = (2, .cancelled, child.createdAt)
            _ = try await store.apply(.update(ended))
            try require(try await store.removeEnded(before: .distantFuture, limit: 9), is: 3)
        },
        Check(name: "a sequence is never used again") { room in
            try await room.withStore { store in
                for number in [3, 8] { _ = try await store.apply(.insert(.fixture(number), .fixture(), nil)) }
                _ = try await store.apply(.update(end(8, at: 1)))
                try require(try store.lastSequence(), is: 8)
                _ = try await store.removeEnded(before: .distantFuture, limit: 9)
                try require(try store.lastSequence(), is: 8)
            }
            try await room.withStore { try require(try $0.lastSequence(), is: 8) }
        },
        Check(name: "the offset of the clock is kept for one boot of the machine") { room in
            func offset(_ store: any PendingStore, _ bootID: String, _ proposal: Int64) throws -> Int64 {
                let clock = try store.clock(bootID: bootID, proposal: proposal, now: Timestamp(nanoseconds: 1))
                return clock.offset
            }
            try await room.withStore { store in
                try require(try offset(store, "a", 5), is: 5)
                try require(try offset(store, "a", 6), is: 5)
            }
            try await room.withStore { store in
                try require(try offset(store, "a", 7), is: 5)
                try require(try offset(store, "b", -8), is: -8)
                try require(try offset(store, "a", 9), is: 9)
            }
        },
        Check(name: "time between two boots of the machine is not measured") { room in
            func clock(_ store: any PendingStore, _ bootID: String, _ proposal: Int64, _ now: Int64) throws -> TicketClock {
                try store.clock(bootID: bootID, proposal: proposal, now: Timestamp(nanoseconds: now))
            }
            try await room.withStore { store in
                try require(try clock(store, "a", 1000, 10), is: TicketClock(offset: 1000))
                _ = try await store.apply(.seen(Timestamp(nanoseconds: 1500)))
            }
            try await room.withStore { store in
                // The date is 9 003 now: 7 503 later than anybody knows of.
                try require(try clock(store, "b", 9000, 3), is: TicketClock(offset: 9000, unmeasured: 7503))
                try require(try clock(store, "b", 1, 7), is: TicketClock(offset: 9000, unmeasured: 7503))
            }
            // Back again: the start is a sign of life as well.
            try await room.withStore { store in
                try require(try clock(store, "c", 100, 5), is: TicketClock(offset: 100, unmeasured: 7503 - 8902))
            }
        },
        .inOneStore("history is measured time") { store in
            _ = try await store.commit((1...2).map { .insert(.fixture($0), .fixture(), nil) })
            var early = end(1, at: 10)
            early.unmeasured = -100
            var late = end(2, at: 110)
            late.unmeasured = 100
            _ = try await store.commit([.update(early), .update(late)])
            try require(try await store.record(of: .fixture(1)), is: early)
            try require(try await store.removeEnded(before: Timestamp(nanoseconds: 11), limit: 9), is: 1)
            try require(try await store.record(of: .fixture(1))?.endedAt, is: early.endedAt)
        },
    ]
}
