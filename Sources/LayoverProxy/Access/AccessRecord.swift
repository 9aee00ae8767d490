import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverText
import NIOCore

/// What the access log says of one exchange, from the head of its request to its last byte. Confined to its loop.
///
/// Made only where there is an access log, so that an exchange without one pays for none.
final class AccessRecord {
    /// The maker of the response.
    enum Source: String {
        case origin, cache
        /// Layover itself: a problem, a ticket, a page of its own.
        case layover
    }

    /// How the exchange ended for its client.
    enum Outcome: String {
        /// The response is complete, or the tunnel came to its end.
        case done
        /// The response broke off.
        case broken
        /// The client left before the response was complete.
        case clientGone = "client_gone"
    }

    let createdAt: Timestamp
    let client: String
    /// The method as it came. Nil: the bytes of the client have no method.
    let method: String?
    /// The URL of the request, without secrets.
    let url: String?
    let version: ProtocolVersion
    let userAgent: String?
    let referer: String?
    let traceParent: TraceParent?

    /// The name of the user by which the client may use the proxy. Nil: there is no user.
    var user: String?
    var status: Int?
    var source: Source?
    /// Bytes of the body of the request; of a tunnel, all that the client sent.
    var receivedByteCount = 0
    /// All bytes that the client was sent, heads included.
    var sentByteCount = 0
    /// When the newest attempt began; nil if no attempt has begun.
    var attemptedAt: Timestamp?
    /// When the head of the response was written.
    var respondedAt: Timestamp?
    var attemptCount = 0
    /// How often the response broke off and went on.
    var resumedCount = 0
    /// Whether the exchange was parked.
    var isParked = false
    var failure: Failure?
    /// The shown id of the exchange's entry.
    var entry: EntryID?

    init(_ head: RequestHead, from client: String, _ intercepted: Origin?, isSecure: Bool, at now: Timestamp) {
        createdAt = now
        self.client = client
        method = head.methodString
        url = Self.url(of: head, intercepted, scheme: isSecure ? "https" : "http")
        version = head.version
        userAgent = head.fields.string(.userAgent)
        referer = head.fields.values(of: "referer").first.map { MaskedValue.text(head.fields.string($0)) }
        traceParent = TraceParent(of: head)
    }

    /// A record of bytes that are no request.
    init(_ request: UnreadableRequest, from client: String, at now: Timestamp) {
        createdAt = now
        self.client = client
        (method, url, userAgent) = (request.method, request.url, request.userAgent)
        (referer, traceParent) = (nil, nil)
        version = .http11
    }

    /// How long the exchange waited: until its newest attempt began, or until now if it had no attempt. Zero if it was not parked.
    func waited(until now: Timestamp) -> Duration {
        isParked ? max(.zero, (attemptedAt ?? now) - createdAt) : .zero
    }

    /// The time from the beginning of the newest attempt to the head of the response. Nil: the response is not the origin's.
    var upstreamHeadTime: Duration? {
        guard source == .origin, let attemptedAt, let respondedAt else { return nil }
        return max(.zero, respondedAt - attemptedAt)
    }

    /// Whether a URL contains `/.layover/`, the beginning of Layover's own paths.
    private static func hasOwnPath(_ url: String) -> Bool {
        var url = url
        return url.withUTF8 { bytes in
            // Few paths have a segment that begins with a dot.
            bytes.indices.dropLast().contains { index in
                bytes[index] == UInt8(ascii: "/") && bytes[index + 1] == UInt8(ascii: ".")
                    && bytes[index...].starts(with: "/.layover/".utf8)
            }
        }
    }

    private static func url(of head: RequestHead, _ intercepted: Origin?, scheme: String) -> String {
        var url = head.targetString
        if let intercepted {
            if case .absolute = head.target { return MaskedURL.text(url) }
            return MaskedURL.text(intercepted.description + url)
        }
        let host = (head.authorityRange ?? head.hostRange).map { "\(scheme)://" + head.fields.string($0) } ?? ""
        if hasOwnPath(url) {
            // The address of a ticket is a secret.
            var path = ByteBuffer()
            head.writeOriginForm(into: &path)
            url = host + MaskedTicketIDs.text(String(buffer: path))
        } else if case .origin = head.target {
            url = host + url
        }
        return MaskedURL.text(url)
    }
}

/// The field `traceparent` of a request (W3C Trace Context, section 3.2), for the log. The field itself passes unchanged.
struct TraceParent: Hashable {
    /// As it came.
    let text: String

    /// Nil: the head has no such field, several, or an invalid one, which receivers must ignore.
    init?(of head: RequestHead) {
        let values = head.fields.values(of: "traceparent")
        guard let value = values.first, values.count == 1, value.count <= Self.byteCountMax else { return nil }
        self.init(head.fields.string(value))
    }

    /// Later versions may add to the end; nobody needs much for it. Default: 128.
    private static let byteCountMax = 128
    private static let version0ByteCount = 55

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= Self.version0ByteCount, bytes.count <= Self.byteCountMax else { return nil }
        for (index, byte) in bytes.prefix(Self.version0ByteCount).enumerated() {
            let isDash = index == 2 || index == 35 || index == 52
            guard isDash ? byte == UInt8(ascii: "-") : Hexadecimal.isLowercaseDigit(byte) else { return nil }
        }
        let version = bytes[..<2]
        let isZero = { (range: Range<Int>) in bytes[range].allSatisfy { $0 == UInt8(ascii: "0") } }
        guard !version.elementsEqual("ff".utf8), !isZero(3..<35), !isZero(36..<52) else { return nil }
        if bytes.count > Self.version0ByteCount {
            guard !isZero(0..<2), bytes[Self.version0ByteCount] == UInt8(ascii: "-"),
                bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
            else { return nil }
        }
        self.text = text
    }
}
