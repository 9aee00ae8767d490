import LayoverCore
import LayoverHTTP
import NIOCore

/// A CONNECT that was answered, while it is not known what the client speaks.
///
/// A client that speaks TLS sends its ClientHello at once. One that says nothing waits for the server, as SSH, SMTP and MySQL do.
struct InterceptionPeek {
    let head: RequestHead
    let plan: ForwardPlan
    let timer: Scheduled<Void>

    /// How long the client may be silent before the tunnel is opened. A ClientHello comes one round trip behind our 200, and 300 ms
    /// is the longest one between continents; protocols where the server begins have time-outs of many seconds. Default: 300 ms.
    static let silenceMax: TimeAmount = .milliseconds(300)

    /// What the first bytes tell.
    enum Verdict {
        case moreNeeded, tls, other
    }

    /// A record of a handshake (22) of TLS (major version 3) that begins with a ClientHello (1): RFC 8446 sections 4 and 5.1.
    static func verdict(on bytes: ByteBuffer) -> Verdict {
        let expected: [(offset: Int, byte: UInt8)] = [(0, 0x16), (1, 3), (5, 1)]
        for (offset, byte) in expected {
            guard let came = bytes.getInteger(at: bytes.readerIndex + offset, as: UInt8.self) else { return .moreNeeded }
            if came != byte { return .other }
        }
        return .tls
    }
}
