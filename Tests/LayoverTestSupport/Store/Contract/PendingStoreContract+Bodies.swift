import LayoverCore
import LayoverEngine
import NIOCore

extension PendingStoreContract {
    private static func file(_ number: Int, _ part: String) -> String { "\(EntryID.fixture(number)).\(part)" }

    private static func body(_ number: Int, _ part: String = "request") -> StoredBody {
        .file(name: file(number, part), byteCount: 3)
    }

    private static func answer(_ number: Int) -> StoredResponse {
        StoredResponse(status: 200, fields: ByteBuffer(), body: body(number, "answer"))
    }

    static let bodies: [Check] = [
        Check(name: "the body of a request goes with its end, that of an answer stays until it is dropped") { room in
            try await room.withStore { store in
                for number in 1...4 {
                    try room.makeFile(file(number, "request"))
                    try room.makeFile(file(number, "answer"))
                }
                for number in 1...4 {
                    _ = try await store.apply(.insert(.fixture(number), .fixture(body(number)), nil))
                }
                _ = try await store.apply(.update(.fixture(1, revision: 2, state: .failed)))
                for number in 2...3 {
                    let end = TicketRecord.fixture(number, revision: 2, state: .delivered)
                    _ = try await store.apply(.delivered(end, answer(number)))
                }
                _ = try await store.apply(.dropResponse(.fixture(3)))
            }
            try require((1...4).map { room.hasFile(file($0, "request")) }, is: [false, false, false, true])
            try require(room.hasFile(file(2, "answer")), "a kept answer keeps its body")
            try require(!room.hasFile(file(3, "answer")), "a dropped answer takes its body along")
        },
        Check(name: "what was not inserted leaves no body, and takes none that a row names") { room in
            try await room.withStore { store in
                for number in 1...2 { try room.makeFile(file(number, "request")) }
                try room.makeFile(file(3, "answer"))
                _ = try await store.apply(.insert(.fixture(1), .fixture(body(1)), mark))
                _ = try await store.apply(.insert(.fixture(2), .fixture(body(2)), mark))
                _ = try await store.apply(.insert(.fixture(1), .fixture(body(1)), mark))
                _ = try await store.apply(.insert(.fixture(1), .fixture(body(1)), nil))
                _ = try await store.apply(.delivered(.fixture(3, revision: 2, state: .delivered), answer(3)))
            }
            try require(room.hasFile(file(1, "request")), "the first one keeps its body")
            try require(!room.hasFile(file(2, "request")), "the duplicate loses its body")
            try require(!room.hasFile(file(3, "answer")), "a late answer loses its body")
            try await room.withStore { store in
                try room.makeFile(file(1, "answer"))
                let end = TicketRecord.fixture(1, revision: 2, state: .delivered)
                _ = try await store.apply(.delivered(end, answer(1)))
                try require(try await store.apply(.delivered(end, answer(1))), is: .stale)
            }
            try require(room.hasFile(file(1, "answer")), "said twice, the answer keeps its body")
        },
        Check(name: "bodies that no row names are swept at the start, and other files are not") { room in
            try await room.withStore { _ = try await $0.apply(.insert(.fixture(1), .fixture(body(1)), nil)) }
            let others = ["notes.txt", "request", "x.request", file(9, "body"), file(9, "request.new")]
            for name in [file(1, "request"), file(2, "request"), file(1, "answer")] + others { try room.makeFile(name) }
            try await room.withStore { _ in }
            try require(room.hasFile(file(1, "request")), "a named body stays")
            try require(!room.hasFile(file(2, "request")) && !room.hasFile(file(1, "answer")), "orphans go")
            for name in others { try require(room.hasFile(name), "\(name) is not ours") }
        },
    ]
}
