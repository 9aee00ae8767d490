import LayoverHTTP
import NIOCore
import NIOEmbedded
import NIOHTTP1

/// Result of another parser, NIO's (llhttp), for the same bytes.
struct NIOTranscript {
    struct Message {
        var head: HTTPRequestHead
        var body: [UInt8] = []
        var trailers: HTTPHeaders?
        var isComplete = false
    }

    var messages: [Message] = []
    var error: (any Error)?

    init(of bytes: [UInt8]) {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldCount = 2_000
        let decoder = HTTPRequestDecoder(
            leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward,
            limitConfiguration: limits)
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(decoder))
        do {
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        } catch {
            self.error = error
        }
        while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) { take(part) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    private mutating func take(_ part: HTTPServerRequestPart) {
        switch part {
        case .head(let head):
            messages.append(Message(head: head))
        case .body(let bytes):
            messages[messages.count - 1].body.append(contentsOf: bytes.readableBytesView)
        case .end(let trailers):
            messages[messages.count - 1].trailers = trailers
            messages[messages.count - 1].isComplete = true
        }
    }

    /// The methods llhttp knows for HTTP; it refuses all others.
    static let methods: Set<String> = [
        "DELETE", "GET", "HEAD", "POST", "PUT", "CONNECT", "OPTIONS", "TRACE", "COPY", "LOCK", "MKCOL",
        "MOVE", "PROPFIND", "PROPPATCH", "SEARCH", "UNLOCK", "BIND", "REBIND", "UNBIND", "ACL",
        "REPORT", "MKACTIVITY", "CHECKOUT", "MERGE", "M-SEARCH", "NOTIFY", "SUBSCRIBE", "UNSUBSCRIBE",
        "PATCH", "PURGE", "MKCALENDAR", "LINK", "UNLINK",
    ]

    /// In what this reading differs from ours, or nil. Compared is every message that we accepted,
    /// up to the first whose method llhttp does not know, or behind which other protocols begin.
    func difference(from ours: Transcript) -> String? {
        for (index, message) in ours.messages.enumerated() where message.isComplete {
            guard Self.methods.contains(message.method) else { return nil }
            guard index < messages.count else {
                return "message \(index) is missing (\(error.map { "\($0)" } ?? "no error"))"
            }
            if let difference = messages[index].difference(from: message) {
                return "message \(index): \(difference)"
            }
            if message.method == "CONNECT" || message.upgradeRequested { return nil }
        }
        return nil
    }
}

extension NIOTranscript.Message {
    func difference(from ours: Transcript.Message) -> String? {
        if head.method.rawValue != ours.method { return "method \(head.method)" }
        if Self.withoutUserinfo(head.uri) != ours.target { return "target \(head.uri)" }
        if head.version != HTTPVersion(major: 1, minor: ours.minorVersion) { return "\(head.version)" }
        if let difference = Self.difference(head.headers, ours.fields) { return difference }
        // Behind these heads llhttp leaves the rest to another protocol.
        if ours.method == "CONNECT" || ours.upgradeRequested { return nil }
        if !isComplete { return "not complete" }
        if body != ours.body { return "body \(body)" }
        let kept = HTTPHeaders(
            (trailers ?? HTTPHeaders()).filter { !KnownField.isDropped($0.name) }.map { ($0.name, $0.value) })
        return Self.difference(kept, ours.trailers ?? [])
    }

    /// NIO leaves it in the target of the absolute form.
    private static func withoutUserinfo(_ target: String) -> String {
        guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return target }
        let authority = target[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard let at = authority.firstIndex(of: "@") else { return target }
        return String(target[..<scheme.upperBound] + target[target.index(after: at)...])
    }

    private static func difference(_ theirs: HTTPHeaders, _ ours: [Transcript.Field]) -> String? {
        // NIO leaves tabs at the end of a value; white space there is no part of it (RFC 9112
        // section 5).
        let theirs = theirs.map { "\($0.name): \(trimmed($0.value))" }
        let ours = ours.map {
            "\(String(decoding: $0.name, as: UTF8.self)): \(String(decoding: $0.value, as: UTF8.self))"
        }
        return theirs == ours ? nil : "fields \(theirs) instead of \(ours)"
    }

    private static func trimmed(_ value: String) -> String {
        var scalars = value.unicodeScalars[...]
        while scalars.last == " " || scalars.last == "\t" { scalars.removeLast() }
        while scalars.first == " " || scalars.first == "\t" { scalars.removeFirst() }
        return String(scalars)
    }
}

extension KnownField {
    /// True if the decoder itself drops a trailer of this name.
    static func isDropped(_ name: String) -> Bool {
        let body = "0\r\n\(name): 1\r\n\r\n"
        return Transcript(of: latin1(AcceptedRequest.chunkedHead + body)).messages.first?.trailers == nil
    }
}
