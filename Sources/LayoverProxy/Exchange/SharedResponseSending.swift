import LayoverEngine
import LayoverHTTP
import NIOCore

/// Gives a client the response that the origin gave to an equal request. Confined to its loop.
final class SharedResponseSending {
    private let response: SharedResponse
    private let loop: ProxyLoop
    private weak var connection: ClientConnection?
    private let client: ClientFacts
    private let keepsAlive: Bool
    private var sending: CachedBodySending?

    /// The request of the client is complete.
    init(_ response: SharedResponse, loop: ProxyLoop, connection: ClientConnection, client: ClientFacts) {
        self.response = response
        self.loop = loop
        self.connection = connection
        self.client = client
        keepsAlive = client.keepAlive && !loop.isDraining && connection.mayHaveMore
    }

    func begin() {
        guard let connection else { return }
        connection.responds(response.status, from: .origin)
        connection.write(head)
        guard let body = response.body, !client.isHead else { return finish(isWhole: true) }
        let sending = CachedBodySending(body, loop: loop, connection: connection) { [weak self] in
            self?.finish(isWhole: $0)
        }
        self.sending = sending
        sending.goOn()
        connection.flushNow()
    }

    private var head: ByteBuffer {
        var out = client.passedOn(response.head)
        out.writeBytes(loop.planner.viaLine)
        out.writeString(
            "Proxy-Status: \(loop.configuration.identity); "
                + "details=\"response to an identical request with the same Idempotency-Key\"\r\n")
        if let body = response.body { out.writeString("Content-Length: \(body.byteCount)\r\n") }
        if !keepsAlive { out.writeStaticString("Connection: close\r\n") }
        out.writeStaticString("\r\n")
        return out
    }

    func goOn() { sending?.goOn() }

    func stop() {
        sending?.stop()
        sending = nil
    }

    private func finish(isWhole: Bool) {
        stop()
        connection?.replayEnded(isWhole: isWhole, keepsAlive: keepsAlive)
    }
}

/// A response on its way to its client that is kept at the same time, for those that have asked for the same.
///
/// The upstream goes on as fast as the slower of the two: the client, and what keeps the response. What is over
/// `limits.bodyMax` is not kept, and then the client alone sets the pace.
struct ResponseSharing {
    let capture: ResponseCapture
    private let head: ResponseHead
    private var byClient = 0
    private var byCapture = 0
    private var byBoth = 0

    /// - Parameter took: Called on the loop when the capture has so many bytes more.
    init(_ head: ResponseHead, loop: ProxyLoop, took: @escaping (Int) -> Void) {
        self.head = head
        capture = ResponseCapture(head, loop: loop, byteCountMax: loop.configuration.body.byteCountMax, took: took)
    }

    /// - Returns: Bytes that both have now, and had not before.
    mutating func clientTook(_ count: Int) -> Int {
        byClient += count
        return nextByBoth()
    }

    mutating func captureTook(_ count: Int) -> Int {
        byCapture += count
        return nextByBoth()
    }

    private mutating func nextByBoth() -> Int {
        let count = min(byClient, byCapture) - byBoth
        byBoth += count
        return count
    }

    /// All of it has come.
    func finished() -> SharedResponse { capture.shared(head) }
}
