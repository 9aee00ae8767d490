import NIOCore
import Testing

@testable import LayoverEngine
@testable import LayoverUpstream

/// The chunked coding that is made for libcurl, whatever buffers it comes with.
struct ChunkedReaderTests {
    /// Reads all with buffers of one size; what lies around the buffer must stay as it is.
    private func readAll(_ body: CapturedBody, by byteCount: Int) -> (text: String, isComplete: Bool) {
        let reader = body.makeReader {}
        var chunks = ChunkedReader()
        var result: [UInt8] = []
        var memory = [UInt8](repeating: 0xAA, count: byteCount + 32)
        while true {
            let step = memory.withUnsafeMutableBytes { memory in
                chunks.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[16..<16 + byteCount]), from: reader)
            }
            guard memory[..<16].allSatisfy({ $0 == 0xAA }), memory[(16 + byteCount)...].allSatisfy({ $0 == 0xAA }) else {
                return ("written outside of the buffer", false)
            }
            guard case .bytes(let count) = step, (1...byteCount).contains(count) else {
                return (String(decoding: result, as: UTF8.self), step == .end && chunks.isComplete)
            }
            result += memory[16..<16 + count]
        }
    }

    @Test(arguments: [1, 2, 5, 19, 20, 21, 22, 36, 37, 38, 276, 277, 4112, 65536])
    func aBodyIsFramedWholeInBuffersOfAnySize(byteCount: Int) async throws {
        let rig = try UpstreamRig()
        for length in [1, 15, 16, 17, 255, 256, 4095, 4096, 5000] {
            let text = String(repeating: "0123456789", count: length / 10 + 1).prefix(length)
            let body = rig.body(String(text), chunked: true, mayBeSentTwice: true)
            let (framed, isComplete) = readAll(body, by: byteCount)
            #expect(isComplete)
            var rest = framed[...]
            var data = ""
            while let end = rest.firstRange(of: "\r\n"), let size = Int(rest[..<end.lowerBound], radix: 16), size > 0 {
                #expect(!rest.hasPrefix("0"))
                data += rest[end.upperBound...].prefix(size)
                rest = rest[end.upperBound...].dropFirst(size)
                #expect(rest.hasPrefix("\r\n"))
                rest = rest.dropFirst(1)
            }
            #expect(data == text)
            #expect(rest == "0\r\n\r\n")
        }
        try await rig.stop()
    }

    @Test(arguments: [1, 7, 100])
    func trailersAreSentAsLines(byteCount: Int) async throws {
        let rig = try UpstreamRig()
        let body = rig.emptyBody(length: nil)
        body.finish(trailers: ["X-Sum": "1; x", "X-Empty": "", "X-Semicolon": ";"])
        #expect(readAll(body, by: byteCount).text == "0\r\nX-Sum: 1; x\r\nX-Empty:\r\nX-Semicolon: ;\r\n\r\n")
        try await rig.stop()
    }

    @Test func aBodyThatIsBrokenOffHasNoLastChunk() async throws {
        let rig = try UpstreamRig()
        let body = rig.emptyBody(length: nil)
        _ = body.append(ByteBuffer(string: "abc"))
        body.breakOff()
        let (text, isComplete) = readAll(body, by: 100)
        #expect(text == "")
        #expect(!isComplete)
        try await rig.stop()
    }
}
