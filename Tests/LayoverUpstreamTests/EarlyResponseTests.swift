import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@testable import LayoverUpstream

/// Responses that come before their request was sent.
@Suite(.bothPaths)
struct EarlyResponseTests {
    private static let byteCount = 3 << 20

    /// The body of a request, and a client that goes on sending whenever the capture has room.
    private func upload(_ rig: UpstreamRig, framing: BodyFraming) -> CapturedBody {
        let count: Int? = if case .length(let count) = framing { count } else { nil }
        let body = rig.emptyBody(length: count, mayBeSentTwice: true)
        _ = body.append(ByteBuffer(repeating: 0x61, count: 64 << 10))
        return body
    }

    private func finish(_ body: CapturedBody, byteCount: Int) {
        for _ in 1..<(byteCount >> 16) { _ = body.append(ByteBuffer(repeating: 0x61, count: 64 << 10)) }
        body.finish()
    }

    /// Before, the connection was closed as soon as the response was complete: the origin had 64 KiB of 3 MiB.
    @Test(arguments: ["200 OK", "404 Not Found"], [BodyFraming.length(byteCount), .chunked])
    func bodyGoesToItsEndAfterAResponseThatIsComplete(status: String, framing: BodyFraming) async throws {
        let received = Watched(0)
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.answer("ok", status: status)
            let isWhole = connection.readBody(isChunked: framing == .chunked, byteCount: Self.byteCount)
            received.update { $0 = isWhole ? Self.byteCount : -1 }
        }
        let rig = try UpstreamRig()
        let body = upload(rig, framing: framing)
        let record = rig.start(rig.request("POST", port: origin.port, framing: framing, body: body))
        let early = await record.waitFor { $0.events.contains("complete") }
        // A client that pauses gets the end of a success, too.
        let events = (status.hasPrefix("200") ? ["head", "endWithheld"] : ["head"]) + ["body", "complete"]
        #expect(early.events == events)
        finish(body, byteCount: Self.byteCount)
        let facts = await record.ended()
        #expect(facts.events == events + ["end"])
        try await received.wait("the whole body") { $0 == Self.byteCount }
    }

    /// The outcome of an upload to an origin that answers its head, and resets the connection once the answer has come. The upload is not
    /// complete by then, however late that is: sockets do not take all of it.
    private func uploadToAResettingOrigin(_ text: String, status: String) async throws -> AttemptRecord.Facts {
        let isAnswered = Signal()
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.answer(text, status: status)
            isAnswered.block()
            connection.reset()
        }
        let rig = try UpstreamRig()
        let framing = BodyFraming.length(Self.hugeByteCount)
        let body = upload(rig, framing: framing)
        let record = rig.start(rig.request("POST", port: origin.port, framing: framing, body: body))
        _ = await record.waitFor { $0.events.contains("complete") }
        isAnswered.fire()
        finish(body, byteCount: Self.hugeByteCount)
        return await record.ended()
    }

    /// The client may already have a success, which is wrong now.
    @Test func successIsAFailureIfTheOriginStopsReading() async throws {
        let facts = try await uploadToAResettingOrigin("ok", status: "200 OK")
        #expect(facts.events == ["head", "endWithheld", "body", "complete", "failed"])
        #expect(facts.failure?.evidence == .answered)
    }

    /// After an error nothing is missing: the client has the response.
    @Test func errorIsDeliveredAlthoughTheOriginStopsReading() async throws {
        let facts = try await uploadToAResettingOrigin("no", status: "403 Forbidden")
        #expect(facts.events.filter { $0 != "bodyUnwanted" } == ["head", "body", "complete", "end"])
        #expect(facts.status == 403 && facts.bodyText == "no")
    }

    /// The origin refuses and closes while the body is on its way. Before, the failed send ended the attempt as `maybeApplied`.
    @Test(arguments: ["413 Content Too Large", "401 Unauthorized", "404 Not Found"], [false, true])
    func errorBeforeTheCloseIsDelivered(status: String, isChunked: Bool) async throws {
        try await errorBeforeTheClose(status, isChunked: isChunked, says: "Connection: close\r\n")
    }

    /// Early errors over TLS, with and without `Connection: close`. By libcurl a third of them was lost.
    @Test(
        arguments: ["413 Content Too Large", "404 Not Found"],
        [("Connection: close\r\n", true), ("Connection: close\r\n", false), ("", false)])
    func errorBeforeTheCloseIsDeliveredByTLS(status: String, rest: (says: String, isChunked: Bool)) async throws {
        let certificates = try TestCertificates()
        let settings = try TLSSettings(certificate: certificates.serverFile, key: certificates.serverKeyFile)
        try await errorBeforeTheClose(status, isChunked: rest.isChunked, says: rest.says, tls: settings, caFile: certificates.caFile)
    }

    private func errorBeforeTheClose(
        _ status: String, isChunked: Bool, says: String, tls: TLSSettings? = nil, caFile: String? = nil
    ) async throws {
        let origin = try MisbehavingOrigin(tls: tls) { connection in
            guard connection.readHead() != nil, connection.read(20_000) != nil else { return }
            let rest = isChunked ? "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n" : "Content-Length: 2\r\n\r\nno"
            connection.write("HTTP/1.1 \(status)\r\n\(says)\(rest)")
        }
        let rig = try UpstreamRig { $0.caFile = caFile }
        for number in 1...40 {
            let body = rig.emptyBody(length: Self.byteCount)
            finishAtOnce(body)
            let facts = await rig.send(
                rig.request(
                    "POST", port: origin.port, scheme: tls == nil ? .http : .https, framing: .length(Self.byteCount), body: body,
                    mayBeSentTwice: false))
            #expect(facts.status.map(String.init) == String(status.prefix(3)), "\(number): \(facts.failure?.message ?? "")")
            #expect(facts.bodyText == "no")
        }
    }

    /// Early errors on a connection that carried a request before. By libcurl some were lost, and the request was sent again.
    @Test(arguments: [("Connection: close\r\n", true), ("Connection: close\r\n", false), ("", false)])
    func errorBeforeTheCloseIsDeliveredOnAKeptConnection(rest: (says: String, isChunked: Bool)) async throws {
        let keptCount = Watched(0)
        let origin = try MisbehavingOrigin { connection in
            var isKept = false
            while let head = connection.readHead() {
                guard head.hasPrefix("PUT") else {
                    connection.answer()
                    isKept = true
                    continue
                }
                if isKept { keptCount.update { $0 += 1 } }
                guard connection.read(20_000) != nil else { return }
                let body = rest.isChunked ? "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n" : "Content-Length: 2\r\n\r\nno"
                connection.write("HTTP/1.1 413 Content Too Large\r\n\(rest.says)\(body)")
                return
            }
        }
        let rig = try UpstreamRig()
        for number in 1...60 {
            // The connection of the PUT before may seem to be kept until its end arrives.
            #expect(await rig.send(rig.request("GET", port: origin.port), needsFreshConnection: true).status == 200)
            let body = rig.emptyBody(length: Self.byteCount, mayBeSentTwice: true)
            finishAtOnce(body)
            let facts = await rig.send(rig.request("PUT", port: origin.port, framing: .length(Self.byteCount), body: body))
            #expect(facts.status == 413, "\(number): \(facts.failure?.message ?? "")")
            #expect(facts.bodyText == "no")
        }
        #expect(keptCount.value == 60)
    }

    /// A reset is no end of a response that only the end of the connection delimits. A failed `send` takes the reset off the socket, whose
    /// input then seems to have ended properly.
    @Test(arguments: ["302 Found", "200 OK"])
    func responseWithoutALengthIsNotCompleteAfterAReset(status: String) async throws {
        guard Path.current == .direct else { return }
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil, connection.read(20_000) != nil else { return }
            connection.write("HTTP/1.1 \(status)\r\nContent-Type: text/plain\r\n\r\na part")
            connection.reset()
        }
        let rig = try UpstreamRig()
        for number in 1...40 {
            let body = rig.emptyBody(length: Self.byteCount)
            finishAtOnce(body)
            let facts = await rig.send(
                rig.request("POST", port: origin.port, framing: .length(Self.byteCount), body: body, mayBeSentTwice: false))
            #expect(facts.events.last == "failed", "\(number): \(facts.events)")
        }
    }

    private func finishAtOnce(_ body: CapturedBody) {
        _ = body.append(ByteBuffer(repeating: 0x61, count: Self.byteCount))
        body.finish()
    }

    /// The origin takes a part, says 200 and closes: that is no success.
    @Test func successOfAnOriginThatClosesIsNotDelivered() async throws {
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil, connection.read(20_000) != nil else { return }
            connection.answer("ok", fields: "Connection: close\r\n")
        }
        let rig = try UpstreamRig()
        for _ in 1...10 {
            let body = rig.emptyBody(length: 64 << 20)
            _ = body.append(ByteBuffer(repeating: 0x61, count: 16 << 20))
            let facts = await rig.send(
                rig.request("POST", port: origin.port, framing: .length(64 << 20), body: body, mayBeSentTwice: false))
            #expect(facts.events.last == "failed")
        }
    }

    // MARK: The end of a success

    /// Successes of an origin that reads on later.
    private static let successes = [
        "200 OK\r\nContent-Length: 2\r\n\r\nok", "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "200 OK\r\nContent-Length: 0\r\n\r\n", "204 No Content\r\n\r\n",
    ]

    /// More than fits into sockets.
    private static let hugeByteCount = 24 << 20

    private func startHugeUpload(_ rig: UpstreamRig, to origin: MisbehavingOrigin) -> AttemptRecord {
        let body = rig.emptyBody(length: Self.hugeByteCount, mayBeSentTwice: true)
        for _ in 0..<(Self.hugeByteCount >> 20) { _ = body.append(ByteBuffer(repeating: 0x61, count: 1 << 20)) }
        body.finish()
        return rig.start(
            rig.request("PUT", port: origin.port, framing: .length(Self.hugeByteCount), body: body), needsFreshConnection: true)
    }

    /// True if no event shows that the request is complete.
    private func isOpen(_ facts: AttemptRecord.Facts, after success: String) -> Bool {
        let hasBody = success.hasSuffix("\r\n\r\nok") || success.contains("chunked")
        guard hasBody else { return facts.events.isEmpty }
        return !facts.events.contains("complete") && !facts.events.contains("end") && (success.contains("chunked") || facts.body.isEmpty)
    }

    /// A huge upload whose origin has answered with a success, and does the rest once the signal fires.
    private func uploadAfterItsSuccess(
        _ success: String, _ rest: @escaping @Sendable (OriginConnection) -> Void
    ) async throws -> (AttemptRecord, goesOn: Signal) {
        let (isAnswered, goesOn) = (Signal(), Signal())
        let origin = try MisbehavingOrigin { connection in
            guard let head = connection.readHead() else { return }
            guard head.hasPrefix("PUT") else {
                connection.answer()
                return
            }
            connection.write("HTTP/1.1 \(success)")
            isAnswered.fire()
            goesOn.block()
            rest(connection)
        }
        // So long that a busy machine does not have it pass while the origin does not read.
        let rig = try UpstreamRig { $0.endWithheldMax = .seconds(300) }
        let record = startHugeUpload(rig, to: origin)
        #expect(await isAnswered.happened())
        // The loop and the worker have read the response when they have made another request.
        for _ in 1...3 { #expect(await rig.send(rig.request("GET", port: origin.port), needsFreshConnection: true).status == 200) }
        return (record, goesOn)
    }

    /// The client has sent all, and a part of it is in the proxy. Before, the client had all of the response by now.
    @Test(arguments: successes) func endOfASuccessComesOnceTheRequestIsSent(success: String) async throws {
        let readCount = Watched(0)
        let (record, goesOn) = try await uploadAfterItsSuccess(success) { connection in
            while let bytes = connection.read(64 << 10) { readCount.update { $0 += bytes.count } }
        }
        #expect(isOpen(record.facts, after: success), "\(record.facts.events)")
        goesOn.fire()
        let facts = await record.ended()
        #expect(facts.events.last == "end" && !facts.events.contains("complete"), "\(facts.events)")
        #expect(facts.status == Int(success.prefix(3)) && facts.bodyText == (success.contains("ok") ? "ok" : ""))
        try await readCount.wait("the whole body") { $0 == Self.hugeByteCount }
    }

    @Test(arguments: successes) func cutUploadIsNeverASuccess(success: String) async throws {
        let (record, goesOn) = try await uploadAfterItsSuccess(success) { $0.reset() }
        goesOn.fire()
        let facts = await record.ended()
        #expect(facts.events.last == "failed" && isOpen(facts.withoutLast, after: success), "\(facts.events)")
        // A success whose head was withheld was told to no client: the request may be sent again.
        #expect(facts.failure?.evidence == (facts.status == nil ? .maybeApplied : .answered))
    }

    /// Without a proxy a client that reads while it sends has the end, too.
    @Test(arguments: successes) func endOfASuccessIsPassedOnWhereTheOriginDoesNotReadOn(success: String) async throws {
        // libcurl reports the end of chunks only when the request is sent.
        if Path.current == .libcurl, success.contains("chunked") { return }
        let cuts = Signal()
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 \(success)")
            cuts.block()
            connection.reset()
        }
        let rig = try UpstreamRig { $0.endWithheldMax = .milliseconds(300) }
        let record = startHugeUpload(rig, to: origin)
        let facts = await record.waitFor { $0.events.contains("complete") }
        #expect(!facts.isTimedOut && facts.status == Int(success.prefix(3)) && facts.bodyText == (success.contains("ok") ? "ok" : ""))
        cuts.fire()
        #expect(await record.ended().failure?.evidence == .answered)
    }

    /// The response is larger than what may wait for its recipient, and the upload is still on.
    @Test func largeResponseAndBodyPassAtTheSameTime() async throws {
        let received = Watched(0)
        let origin = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(Self.byteCount)\r\n\r\n")
            for _ in 0..<(Self.byteCount >> 16) {
                guard connection.read(64 << 10) != nil else { return }
                connection.write([UInt8](repeating: 0x62, count: 64 << 10))
                received.update { $0 += 64 << 10 }
            }
        }
        let rig = try UpstreamRig { $0.bytesOutstandingMax = 64 << 10 }
        let body = upload(rig, framing: .length(Self.byteCount))
        let record = rig.start(rig.request("POST", port: origin.port, framing: .length(Self.byteCount), body: body))
        _ = await record.waitFor { !$0.body.isEmpty }
        finish(body, byteCount: Self.byteCount)
        let facts = await record.ended()
        #expect(facts.body.count == Self.byteCount && facts.events.last == "end")
        // The origin counts a piece after it has sent it.
        try await received.wait("the whole body") { $0 == Self.byteCount }
    }
}

extension AttemptRecord.Facts {
    fileprivate var withoutLast: Self {
        var facts = self
        _ = facts.events.popLast()
        return facts
    }
}

extension OriginConnection {
    /// Reads a body whose head was read.
    ///
    /// - Returns: True if the whole body came.
    func readBody(isChunked: Bool, byteCount: Int) -> Bool {
        guard isChunked else { return read(byteCount) != nil }
        var count = 0
        while let line = readLine(), let size = Int(line, radix: 16) {
            guard size > 0 else { return readLine() == "" && count == byteCount }
            guard read(size + 2) != nil else { return false }
            count += size
        }
        return false
    }
}
