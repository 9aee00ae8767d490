import LayoverTestSupport
import Testing

@testable import LayoverSystem

struct SHA256Tests {
    /// The examples of FIPS 180-4 (NIST, "SHA256.pdf" and "SHA2_Additional.pdf").
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func publishedVector(message: String, digest: String) throws {
        #expect(try SHA256.digest(of: Array(message.utf8)) == bytes(digest))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func digestOfPiecesIsThatOfTheWhole(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let message = (0..<Int.random(in: 0...3000, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var digest = try SHA256()
        var rest = message[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 0...200, using: &generator))
            try digest.update(Array(piece))
            rest = rest.dropFirst(piece.count)
            // Asking in between changes nothing.
            #expect(try digest.digest() == SHA256.digest(of: Array(message.prefix(rest.startIndex))))
        }
        #expect(try digest.digest() == SHA256.digest(of: message))
    }

    @Test func copiesAreContinuedByManyTasksAtOnce() async throws {
        var start = try SHA256()
        try start.update(Array("begin ".utf8))
        let shared = start
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    var digest = shared
                    try digest.update(Array("\(number)".utf8))
                    return try digest.digest() == SHA256.digest(of: Array("begin \(number)".utf8))
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        try start.update(Array("end".utf8))
        #expect(try start.digest() == SHA256.digest(of: Array("begin end".utf8)))
    }
}
