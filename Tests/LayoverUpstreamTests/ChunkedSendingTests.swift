import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// Chunked bodies on handles that have sent one before. libcurl before 8.7.0 corrupts the heap where it is given a
/// function for trailers twice (docs/libcurl.md).
@Suite(.bothPaths)
struct ChunkedSendingTests {
    private static let text = String(repeating: "0123456789abcdef", count: 12_800)

    private func chunkedBody(_ text: String, trailers: RequestFields?, of rig: UpstreamRig, mayBeSentTwice: Bool) -> CapturedBody {
        let body = rig.emptyBody(length: nil, mayBeSentTwice: mayBeSentTwice)
        if !text.isEmpty { _ = body.append(ByteBuffer(string: text)) }
        body.finish(trailers: trailers)
        return body
    }

    /// The data of a chunked body, and the lines behind its last chunk. Nil if the body is not chunked.
    private func decoded(_ chunks: [UInt8]) -> (text: String, trailers: [String])? {
        var data: [UInt8] = []
        var rest = chunks[...]
        func line() -> String? {
            guard let end = rest.firstIndex(of: 13), rest.dropFirst(end - rest.startIndex + 1).first == 10 else { return nil }
            defer { rest = rest[(end + 2)...] }
            return String(decoding: rest[..<end], as: UTF8.self)
        }
        while true {
            guard let size = line().flatMap({ Int($0, radix: 16) }) else { return nil }
            if size == 0 { break }
            guard rest.count >= size + 2 else { return nil }
            data += rest.prefix(size)
            rest = rest.dropFirst(size)
            guard line() == "" else { return nil }
        }
        var trailers: [String] = []
        while let next = line() {
            if next.isEmpty { return rest.isEmpty ? (String(decoding: data, as: UTF8.self), trailers) : nil }
            trailers.append(next)
        }
        return nil
    }

    @Test(arguments: [0, 1, 15, 16, 255, 4096, 70_000, 200_000])
    func everyChunkedBodyOnOneHandleArrivesWholeWithItsTrailers(byteCount: Int) async throws {
        let origin = try MisbehavingOrigin { connection in
            while let (_, body) = connection.readRequest() {
                let decoded = decoded(body)
                connection.answer(decoded.map { "\($0.trailers) \($0.text)" } ?? "not chunked")
            }
        }
        let rig = try UpstreamRig()
        let text = String(Self.text.prefix(byteCount))
        for number in 1...6 {
            let body = chunkedBody(text, trailers: ["X-Number": "\(number)", "X-Empty": ""], of: rig, mayBeSentTwice: true)
            let facts = await rig.send(rig.request("PUT", port: origin.port, framing: .chunked, body: body))
            #expect(facts.bodyText == "\(["X-Number: \(number)", "X-Empty:"]) \(text)", "upload \(number)")
        }
        #expect(origin.connections.count == 1)
    }

    @Test func chunkedBodyThatLibcurlSendsAgainArrivesWholeWithItsTrailers() async throws {
        let origin = try MisbehavingOrigin { connection in
            while let (head, body) = connection.readRequest() {
                // The kept-alive connection dies once a body was read on it.
                if head.hasPrefix("PUT"), connection.number == 1 { return }
                connection.answer(decoded(body).map { "\($0.trailers) \($0.text)" } ?? "")
            }
        }
        let rig = try UpstreamRig()
        _ = await rig.send(rig.request("GET", port: origin.port))
        let body = chunkedBody(Self.text, trailers: ["X-Sum": "1"], of: rig, mayBeSentTwice: true)
        let facts = await rig.send(rig.request("PUT", port: origin.port, framing: .chunked, body: body))
        guard Path.current == .libcurl else {
            #expect(facts.failure?.isStaleConnection == true)
            return
        }
        #expect(facts.sendings == 2)
        #expect(facts.bodyText == "\(["X-Sum: 1"]) \(Self.text)")
    }

    @Test func trailersThatAreLongerThanTheBufferArriveWhole() async throws {
        let origin = try MisbehavingOrigin { connection in
            guard let (_, body) = connection.readRequest() else { return }
            connection.answer(decoded(body)?.trailers.joined() ?? "")
        }
        let rig = try UpstreamRig { $0.sendBufferByteCount = 16 << 10 }
        let lines = (1...300).map { "X-\($0): \(String(repeating: "v", count: 200))" }
        let body = chunkedBody("abc", trailers: RequestFields(lines), of: rig, mayBeSentTwice: false)
        let facts = await rig.send(rig.request("POST", port: origin.port, framing: .chunked, body: body))
        #expect(facts.bodyText == lines.joined())
    }

    @Test(arguments: [BodyFraming.length(3), .chunked])
    func errorResponsesToCompleteBodiesAreDelivered(framing: BodyFraming) async throws {
        let origin = try MisbehavingOrigin { connection in
            while connection.readRequest() != nil { connection.answer("no", status: "404 Not Found") }
        }
        let rig = try UpstreamRig()
        for _ in 1...3 {
            let body = rig.body("abc", chunked: framing == .chunked, mayBeSentTwice: true)
            let facts = await rig.send(rig.request("PUT", port: origin.port, framing: framing, body: body))
            #expect(facts.status == 404)
            #expect(facts.bodyText == "no")
        }
    }

    /// An origin that answers early and reads no further must not make the attempt wait for it.
    @Test func errorResponseBeforeTheEndOfAChunkedBodyEndsTheAttempt() async throws {
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.answer("no", status: "413 Too Large", fields: "Connection: close\r\n")
            connection.readToEnd()
        }
        let rig = try UpstreamRig()
        let body = rig.emptyBody(length: nil)
        _ = body.append(ByteBuffer(string: "abc"))
        let facts = await rig.send(rig.request("POST", port: origin.port, framing: .chunked, body: body))
        #expect(facts.events == ["bodyUnwanted", "head", "body", "end"])
        #expect(facts.status == 413)
    }
}
