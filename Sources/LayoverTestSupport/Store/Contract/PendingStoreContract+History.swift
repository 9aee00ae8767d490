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
                let kept = StoredAnswer(
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
                try require(try await store.answer(of: .fixture(1)), is: nil)
                try require(try await store.removeEnded(before: limit, limit: 2), is: 1)
                try require(try await store.removeEnded(before: limit, limit: 2), is: 0)
                try require(try await store.removeEnded(before: .distantFuture, limit: 0), is: 0)
                try require(try await store.removeEnded(before: .distantFuture, limit: 9), is: 1)
            }
            try require(!room.hasFile(file), "the answer's body goes with its ticket")
            try await room.withStore { try require(try $0.live().map(\.sequence), is: [5]) }
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
            try await room.withStore { store in
                try require(try store.clockOffset(bootID: "a", proposal: 5), is: 5)
                try require(try store.clockOffset(bootID: "a", proposal: 6), is: 5)
            }
            try await room.withStore { store in
                try require(try store.clockOffset(bootID: "a", proposal: 7), is: 5)
                try require(try store.clockOffset(bootID: "b", proposal: -8), is: -8)
                try require(try store.clockOffset(bootID: "a", proposal: 9), is: 9)
            }
        },
    ]
}
