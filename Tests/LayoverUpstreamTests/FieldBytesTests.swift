import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

/// Transport of `RequestFields` through libcurl to a real origin.
@Suite(.bothPaths)
struct FieldBytesTests {
    private func answering() throws -> MisbehavingOrigin {
        try MisbehavingOrigin.answering()
    }

    private func fields(of random: [RandomField]) -> RequestFields {
        var fields = RequestFields()
        for field in random { fields.append(field.name, ByteBuffer(bytes: field.value)) }
        return fields
    }

    @Test func anyFieldsAndTrailersArriveByteForByte() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        let origin = try answering()
        let rig = try UpstreamRig()
        var expected: [UInt8] = []
        for _ in 0..<150 {
            let (random, trailers) = (RandomField.some(using: &generator), RandomField.some(using: &generator))
            let body = rig.emptyBody(length: nil, mayBeSentTwice: true)
            _ = body.append(ByteBuffer(string: "abc"))
            body.finish(trailers: fields(of: trailers))
            var request = rig.request("PUT", port: origin.port, framing: .chunked, body: body)
            request.host = "h"
            request.fields = fields(of: random)
            #expect(await rig.send(request).status == 200)
            let framing = Array("Transfer-Encoding: chunked\r\n".utf8)
            let lines = random.flatMap(\.line)
            expected += Array("PUT /x HTTP/1.1\r\nHost: h\r\n".utf8) + (Path.current == .direct ? lines + framing : framing + lines)
            expected += Array("\r\n3\r\nabc\r\n0\r\n".utf8) + trailers.flatMap(\.line) + [13, 10]
        }
        try await rig.stop()
        #expect(origin.connections.count == 1)
        #expect(origin.connections.first?.received == expected, "seed \(seed)")
    }

    /// No client sends such values, but a token may stand for white space, and a row of the store may have any value.
    @Test(arguments: ["X: \t ", "X:", "X:\t", "X: "])
    func aValueOfWhiteSpaceIsSentEmpty(line: String) async throws {
        let origin = try answering()
        let rig = try UpstreamRig()
        var request = rig.request("GET", port: origin.port)
        request.host = "h"
        request.fields = RequestFields(lines: ByteBuffer(string: "A: :\0\(line)\0no colon\0\0:\0B: b\0"))
        #expect(await rig.send(request).status == 200)
        try await rig.stop()
        #expect(origin.received.joined() == "GET /x HTTP/1.1\r\nHost: h\r\nA: :\r\nX:\r\nB: b\r\n\r\n")
    }
}
