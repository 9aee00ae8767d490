import LayoverHTTP
import NIOCore

/// The head of a response as it is kept: a status line and field lines, each with its CRLF.
enum KeptHead {
    /// Fields that are not kept. `Age` and the length are computed again each time. Trailers are not kept. `Set-Cookie` is a secret, and
    /// would log a user in again.
    private static let dropped: Set<String> = ["age", "content-length", "set-cookie", "set-cookie2", "trailer"]

    /// Fields that a 304 does not change (RFC 9111 section 3.2).
    private static let unchangedByRenewal: Set<String> = [
        "content-encoding", "content-length", "content-range", "content-type", "vary",
    ]

    /// Fields that a 304 repeats (RFC 9110 section 15.4.5).
    private static let inNotModified: Set<String> = [
        "cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary",
    ]

    static func make(of response: ResponseFacts, bytes: ByteBuffer) -> ByteBuffer {
        let unused = dropped.union(response.directives.fieldNames("no-cache"))
        return filter(bytes) { !unused.contains($0) }
    }

    /// The kept head with what a 304 said about it; nil if the 304 speaks of another representation
    /// (RFC 9111 section 4.3.4).
    static func renewed(_ kept: ByteBuffer, by response: ResponseFacts, bytes: ByteBuffer) -> ByteBuffer? {
        let fields = MessageFields(responseHead: kept)
        if let tag = response.fields.text("etag") {
            guard let own = fields.text("etag"), Precondition.isSame(tag, own) else { return nil }
        } else if let changed = response.fields.text("last-modified") {
            guard fields.text("etag") == nil, fields.text("last-modified") == changed else { return nil }
        } else {
            guard fields.text("etag") == nil, fields.text("last-modified") == nil else { return nil }
        }
        let said = Set(response.fields.all.map(\.name)).subtracting(unchangedByRenewal)
        var renewed = filter(kept) { !said.contains($0) }
        let news = filter(make(of: response, bytes: bytes)) { said.contains($0) }
        let lines = news.readableBytesView
        if let end = lines.firstIndex(of: UInt8(ascii: "\n")) { renewed.writeBytes(lines[(end + 1)...]) }
        return renewed
    }

    /// How a kept response is sent.
    enum Form {
        case whole(byteCount: Int)
        /// - Parameter byteCount: What the origin said, or would have; nil if nobody knows.
        case headOnly(byteCount: Int?)
        case notModified
    }

    /// The head to send; nil if the kept head is damaged.
    static func assembled(_ kept: ByteBuffer, age: Int, _ form: Form) -> ResponseHead? {
        var lines = kept
        var byteCount: Int?
        var isHead = false
        switch form {
        case .whole(let count): byteCount = count
        case .headOnly(let count): (byteCount, isHead) = (count, true)
        case .notModified:
            let fields = filter(kept) { inNotModified.contains($0) }.readableBytesView
            lines = ByteBuffer(string: "HTTP/1.1 304 Not Modified\r\n")
            if let end = fields.firstIndex(of: UInt8(ascii: "\n")) { lines.writeBytes(fields[(end + 1)...]) }
        }
        lines.writeString("Age: \(max(0, age))\r\n")
        // RFC 9110 section 8.6: none with a 204.
        if let byteCount, !startsWith204(lines) { lines.writeString("Content-Length: \(byteCount)\r\n") }
        lines.writeString("\r\n")
        return assemble(lines, isHead: isHead)
    }

    private static func startsWith204(_ lines: ByteBuffer) -> Bool {
        lines.readableBytesView.dropFirst(9).prefix(3).elementsEqual("204".utf8)
    }

    private static func assemble(_ lines: ByteBuffer, isHead: Bool) -> ResponseHead? {
        var assembler = ResponseHeadAssembler(limits: .ofKnownHead)
        assembler.reset(isHeadRequest: isHead)
        return lines.withUnsafeReadableBytes { bytes in
            var start = 0
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                guard
                    let head = try? assembler.take(line: UnsafeRawBufferPointer(rebasing: bytes[start...end]))
                else {
                    start = end + 1
                    continue
                }
                return head
            }
            return nil
        }
    }

    /// The status line and the fields whose names, in lower case, are wanted.
    private static func filter(_ head: ByteBuffer, _ isWanted: (String) -> Bool) -> ByteBuffer {
        var out = ByteBuffer()
        out.reserveCapacity(head.readableBytes)
        var isFirst = true
        for line in head.readableBytesView.split(separator: UInt8(ascii: "\n")) {
            let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
            if isFirst || isWanted(name) {
                out.writeBytes(line)
                out.writeInteger(UInt8(ascii: "\n"))
            }
            isFirst = false
        }
        return out
    }
}
