import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

extension PendingStoreContract {
    static let acceptance: [Check] = [
        Check(name: "what was accepted is there after a restart, as it was") { room in
            var request = StoredRequest.fixture(.inline(ByteBuffer(bytes: [0, 255, 10, 13])))
            request.trailers = ["X-Sum": "1"]
            request.hasTokens = true
            try await room.withStore { store in
                try require(try await store.apply(.insert(.everything(5), request, nil)), is: .done)
            }
            try await room.withStore { store in
                try require(try store.live(), is: [.everything(5)])
                try require(try await store.record(of: .fixture(5)), is: .everything(5))
                try require(try await store.request(of: .fixture(5)), is: request)
            }
        },
        Check(name: "every kind of body comes back as it was") { room in
            let bodies: [(StoredBody, Bool)] = [
                (.none, false), (.inline(ByteBuffer()), true),
                (.file(name: "\(EntryID.fixture(3)).request", byteCount: 3), true),
            ]
            try await room.withStore { store in
                try room.makeFile("\(EntryID.fixture(3)).request")
                for (index, (body, hasBody)) in bodies.enumerated() {
                    var request = StoredRequest.fixture(body)
                    request.hasBody = hasBody
                    _ = try await store.apply(.insert(.fixture(index + 1), request, nil))
                }
            }
            try await room.withStore { store in
                for (index, (body, hasBody)) in bodies.enumerated() {
                    let request = try await store.request(of: .fixture(index + 1))
                    try require(request?.body, is: body)
                    try require(request?.hasBody, is: hasBody)
                }
            }
            try require(room.hasFile("\(EntryID.fixture(3)).request"), "the body of a live ticket stays")
        },
        .inOneStore("an empty store has nothing") { store in
            try require(try store.live(), is: [])
            try require(try store.lastSequence(), is: 0)
            try require(try await store.record(of: .fixture(1)), is: nil)
            try require(try await store.request(of: .fixture(1)), is: nil)
            try require(try await store.response(of: .fixture(1)), is: nil)
            try require(try store.endStates(of: [.fixture(1)]), is: [:])
            try require(store.condition.failure, is: nil)
        },
        .inOneStore("live tickets come in the order of their sequence, over many portions") { store in
            let numbers = (1...2500).reversed()
            _ = try await store.commit(numbers.map { .insert(.fixture($0), .fixture(), nil) })
            _ = try await store.apply(.update(.fixture(7, revision: 2, state: .cancelled)))
            try require(try store.live().map(\.sequence), is: Array(1...6) + Array(8...2500))
        },
        Check(name: "a ticket is found by the key of its mark until the key is forgotten") { room in
            try await room.withStore { store in
                try require(try await store.ticket(ofKey: mark.key), is: nil)
                _ = try await store.commit([.insert(.fixture(1), .fixture(), mark), .insert(.fixture(2), .fixture(), nil)])
                let found = MarkedTicket(id: .fixture(1), payload: mark.payload)
                try require(try await store.ticket(ofKey: mark.key), is: found)
                try require(try await store.ticket(ofKey: mark.payload), is: nil)
                let end = StoreChange.update(.fixture(1, revision: 2, state: .cancelled))
                try require(try await store.commit([end, .forgetKey(.fixture(1))]), is: [.done, .done])
                try require(try await store.apply(.forgetKey(.fixture(9))), is: .stale)
            }
            try await room.withStore { store in
                try require(try await store.ticket(ofKey: mark.key), is: nil)
                try require(try await store.record(of: .fixture(1))?.state, is: .cancelled)
                try require(try await store.apply(.insert(.fixture(3), .fixture(), mark)), is: .done)
                try require(try await store.ticket(ofKey: mark.key)?.id, is: .fixture(3))
            }
        },
        Check(name: "the same key and payload, or another payload, is told and not inserted") { room in
            let other = IdempotencyMark(key: mark.key, payload: Array(repeating: 3, count: 32))
            try await room.withStore { store in
                try require(try await store.apply(.insert(.fixture(1), .fixture(), mark)), is: .done)
            }
            try await room.withStore { store in
                // The same in one group, too.
                let results = try await store.commit([
                    .insert(.fixture(2), .fixture(), mark), .insert(.fixture(3), .fixture(), other),
                    .insert(.fixture(4), .fixture(), nil), .update(.fixture(2, revision: 2, state: .held)),
                ])
                try require(
                    results,
                    is: [
                        .duplicate(of: .fixture(1), samePayload: true), .duplicate(of: .fixture(1), samePayload: false),
                        .done, .stale,
                    ])
                try require(try store.live().map(\.sequence), is: [1, 4])
            }
        },
        Check(name: "a key lives as long as its ticket is kept, ended or not") { room in
            try await room.withStore { store in
                _ = try await store.apply(.insert(.fixture(1), .fixture(), mark))
                _ = try await store.apply(.update(.fixture(1, revision: 2, state: .cancelled)))
                let again = try await store.apply(.insert(.fixture(2), .fixture(), mark))
                try require(again, is: .duplicate(of: .fixture(1), samePayload: true))
                try require(try await store.removeEnded(before: .distantFuture, limit: 9), is: 1)
                try require(try await store.apply(.insert(.fixture(2), .fixture(), mark)), is: .done)
            }
        },
        .inOneStore("an id that is taken is not inserted, and the row stays as it was") { store in
            _ = try await store.apply(.insert(.fixture(1), .fixture(), nil))
            var other = TicketRecord.fixture(1)
            other.sequence = 2
            other.request.url = "other"
            try require(try await store.apply(.insert(other, .fixture(), nil)), is: .stale)
            try require(try store.live(), is: [.fixture(1)])
        },
    ]
}
