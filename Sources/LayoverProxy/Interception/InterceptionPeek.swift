import LayoverCore
import LayoverHTTP
import LayoverTLS
import NIOCore

/// A CONNECT that was answered, while it is not known what the client speaks.
///
/// A client that speaks TLS sends its ClientHello at once. One that says nothing waits for the server, as SSH, SMTP and MySQL do. Until the
/// whole ClientHello is there and was understood, the bytes also stay where they are, for a tunnel.
struct InterceptionPeek {
    let head: RequestHead
    let plan: ForwardPlan
    var timer: Scheduled<Void>
    /// The session that reads the ClientHello. Nil: the first bytes are not those of a ClientHello.
    private var session: TLSServerSession?
    /// How many of the received bytes the session has.
    private var readByteCount = 0

    init(head: RequestHead, plan: ForwardPlan, timer: Scheduled<Void>) {
        (self.head, self.plan, self.timer) = (head, plan, timer)
    }

    /// How long the client may be silent before the tunnel is opened. A ClientHello comes one round trip behind our 200, later where a
    /// program loads its TLS at that time (Java) or the machine is busy; protocols where the server begins have time-outs of many seconds.
    /// Default: 1 s.
    static let silenceMax: TimeAmount = .seconds(1)
    /// How long a ClientHello that has begun may take, as long as a handshake. Default: 30 s.
    static let helloTimeMax: TimeAmount = .seconds(30)
    /// Most bytes of a ClientHello; longer input is no ClientHello. One with post-quantum keys has about 2 KiB. Default: 60 KiB.
    static let helloByteCountMax = 60 << 10

    /// The protocol of the client, judged by the bytes that have come.
    enum Verdict {
        case moreNeeded
        /// The beginning of a ClientHello; the rest may take longer. Given once.
        case helloBegun
        /// A whole ClientHello, which the session has read.
        case hello(TLSServerSession)
        case other
    }

    /// A record of a handshake (22) of TLS (major version 3) that begins with a ClientHello (1): RFC 8446 sections 4 and 5.1. OpenSSL
    /// reads the rest of it.
    ///
    /// - Parameter bytes: All that came.
    mutating func verdict(on bytes: ByteBuffer) -> Verdict {
        let expected: [(offset: Int, byte: UInt8)] = [(0, 0x16), (1, 3), (5, 1)]
        for (offset, byte) in expected {
            guard let came = bytes.getInteger(at: bytes.readerIndex + offset, as: UInt8.self) else { return .moreNeeded }
            if came != byte { return .other }
        }
        let isFirst = session == nil
        do throws(TLSError) {
            let session = if let begun = self.session { begun } else { try TLSServerSession() }
            self.session = session
            if let new = bytes.getSlice(at: bytes.readerIndex + readByteCount, length: bytes.readableBytes - readByteCount) {
                try session.receive(new)
                readByteCount += new.readableBytes
            }
            try session.handshake()
            if session.isContextAwaited { return .hello(session) }
        } catch {
            return .other
        }
        guard readByteCount < Self.helloByteCountMax else { return .other }
        return isFirst ? .helloBegun : .moreNeeded
    }
}
