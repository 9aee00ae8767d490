import LayoverHTTP
import Testing

struct ResponseTrailerAssemblerTests {
    private func take(_ text: String, _ assembler: inout ResponseTrailerAssembler) throws -> [Bool] {
        var results: [Bool] = []
        for line in lines(latin1(text)) {
            try line.withUnsafeBytes { results.append(try assembler.take(line: $0)) }
        }
        return results
    }

    @Test func forbiddenTrailersAreRemoved() throws {
        var assembler = ResponseTrailerAssembler()
        let results = try take("X-Sum \t: 1\r\nSet-Cookie: a\r\nconnection: x\r\nETag: \"1\"\r\n\r\n", &assembler)
        #expect(results == [false, false, false, false, true])
        #expect(assembler.bytes.visible == "X-Sum: 1\r\nETag: \"1\"\r\n")
        assembler.reset()
        #expect(assembler.bytes.readableBytes == 0)
    }

    @Test(arguments: [
        "X: 1\n", "X y: 1\r\n", " X: 1\r\n", "X: \0\r\n", "X\r\n", "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n", "Host: a\r\n",
        String(repeating: "X: 1\r\n", count: 101), "X: " + String(repeating: "a", count: 17_000) + "\r\n",
    ])
    func malformedTrailersAreRefused(text: String) {
        var assembler = ResponseTrailerAssembler()
        var statuses: [Int?] = []
        for text in [text, "\r\n"] {
            do {
                _ = try take(text, &assembler)
            } catch {
                statuses.append((error as? FramingError)?.status)
            }
        }
        #expect(statuses == [502, 502])
    }
}
