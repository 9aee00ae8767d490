import LayoverHTTP
import NIOCore
import Testing

/// For every input: the decoder never crashes, says the same however the bytes were cut, hands over
/// no byte that did not arrive, and what it accepts is read the same by NIO's decoder.
struct RequestFuzzTests {
    @Test func mutatedRequestsKeepTheInvariants() {
        var acceptedCount = 0
        let roundCount = fuzz("request", roundCount: 20_000, RequestMutator.init(seed:)) { mutator in
            let bytes = mutator.next()
            let cuts = mutator.cuts(byteCount: bytes.count)
            let transcript = Transcript(of: bytes)
            if transcript.messages.contains(where: \.isComplete) { acceptedCount += 1 }
            guard let flaw = Self.flaw(of: transcript, in: bytes, cuts: cuts) else { return nil }
            return "\(flaw)\n\(String(decoding: bytes, as: UTF8.self).debugDescription)"
        }
        // A fuzzer that only makes garbage tests nothing.
        #expect(acceptedCount * 5 > roundCount)
    }

    static func flaw(of transcript: Transcript, in bytes: [UInt8], cuts: [Int]) -> String? {
        if Transcript(of: bytes, cuts: cuts) != transcript { return "differs when cut at \(cuts)" }
        let takenCount = transcript.messages.reduce(0) { $0 + $1.head.count + $1.body.count }
        if takenCount + transcript.rest.count > bytes.count { return "more bytes out than in" }
        for message in transcript.messages {
            if let flaw = forwardingFlaw(of: message.head) { return flaw }
        }
        return NIOTranscript(of: bytes).difference(from: transcript)
    }

    /// Forwarded lines must be lines: no line end inside, a name, and nothing that frames.
    private static func forwardingFlaw(of bytes: [UInt8]) -> String? {
        var decoder = RequestDecoder()
        var input = ByteBuffer(bytes: bytes)
        guard case .head(let head) = try? decoder.next(&input) else { return "head is none by itself" }
        var out = RequestFields()
        head.writeForwardedFields(into: &out)
        head.writeVia(into: &out, own: latin1("me"))
        for line in out.lines.readableBytesView.split(separator: 0, omittingEmptySubsequences: false).dropLast() {
            if line.contains(0x0D) || line.contains(0x0A) { return "line end in a forwarded field" }
            let name = String(decoding: line.prefix { $0 != 0x3A }, as: UTF8.self).lowercased()
            if name.isEmpty || ["host", "content-length", "transfer-encoding", "connection", "te"].contains(name) {
                return "forwards \(name)"
            }
        }
        return head.hasViaToken(latin1("me")) || Self.findsOwnVia(out.lines) ? nil : "own Via is not found"
    }

    /// True if the next proxy with our name would find itself in this Via.
    private static func findsOwnVia(_ lines: ByteBuffer) -> Bool {
        let via = lines.readableBytesView.split(separator: 0).last.map(Array.init) ?? []
        var input = ByteBuffer(bytes: latin1("GET / HTTP/1.1\r\nHost: a\r\n") + via + latin1("\r\n\r\n"))
        var decoder = RequestDecoder()
        guard case .head(let head) = try? decoder.next(&input) else { return false }
        return head.hasViaToken(latin1("me"))
    }
}
