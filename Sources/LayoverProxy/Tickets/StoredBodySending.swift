import LayoverEngine
import LayoverHTTP
import NIOCore

/// Sends a kept response to a client, as fast as it takes it. Confined to its loop.
final class StoredBodySending: @unchecked Sendable {
    /// Bytes that are read at once. Default: 64 KiB.
    private static let portion = 64 << 10

    private let stored: StoredResponse
    private let loop: ProxyLoop
    private weak var connection: ClientConnection?
    private let client: ClientFacts
    private let keepsAlive: Bool
    private var body: CapturedBody?
    private var reader: CapturedBody.Reader?

    init(
        _ stored: StoredResponse, loop: ProxyLoop, connection: ClientConnection, client: ClientFacts,
        keepsAlive: Bool
    ) {
        self.stored = stored
        self.loop = loop
        self.connection = connection
        self.client = client
        self.keepsAlive = keepsAlive && client.keepAlive
    }

    private var hasBody: Bool { stored.status >= 200 && stored.status != 204 && stored.status != 304 }

    func begin() {
        guard let connection else { return }
        var head = ByteBuffer(string: "HTTP/1.1 \(stored.status) \(StatusText.reason(of: stored.status))\r\n")
        if client.isOnOwnOrigin { OwnOrigin.write(into: &head) }
        head.writeImmutableBuffer(client.addresses?.rewriting(stored.fields) ?? stored.fields)
        if hasBody { head.writeString("Content-Length: \(stored.body.byteCount)\r\n") }
        if !keepsAlive { head.writeStaticString("Connection: close\r\n") }
        head.writeStaticString("\r\n")
        connection.write(head)
        guard hasBody, !client.isHead, stored.body.byteCount > 0 else { return finish(isWhole: true) }
        let body = CapturedBody(stored.body, limits: loop.configuration.body, spool: loop.spool)
        self.body = body
        let loop = self.loop
        reader = body.makeReader { [weak self] in loop.eventLoop.execute { [weak self] in self?.goOn() } }
        goOn()
    }

    func goOn() {
        while let reader, let connection, connection.isWritable {
            var bytes = ByteBuffer()
            var result = CapturedBody.ReadResult.wait
            bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.portion) { target in
                result = reader.read(into: UnsafeMutableRawBufferPointer(rebasing: target.prefix(Self.portion)))
                if case .bytes(let count) = result { return count }
                return 0
            }
            switch result {
            case .bytes:
                connection.write(bytes)
                connection.flushNow()
            case .wait: return
            case .end: return finish(isWhole: true)
            case .brokenOff: return finish(isWhole: false)
            }
        }
    }

    private func finish(isWhole: Bool) {
        stop()
        connection?.replayEnded(isWhole: isWhole, keepsAlive: keepsAlive)
    }

    func stop() {
        reader?.close()
        reader = nil
        body = nil
    }
}
