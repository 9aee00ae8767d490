import LayoverEngine
import NIOCore

/// Sends the body of a cached response as fast as its client takes it. Confined to its loop.
final class CachedBodySending: @unchecked Sendable {
    /// Bytes that are read at once. Default: 64 KiB.
    private static let portion = 64 << 10

    private let body: any CachedBody
    private let loop: ProxyLoop
    private weak var connection: ClientConnection?
    private let done: (_ isWhole: Bool) -> Void
    private var offset = 0
    private var isReading = false
    private var isOver = false

    /// - Parameter done: Called on the loop, once, unless it is stopped before.
    init(
        _ body: any CachedBody, loop: ProxyLoop, connection: ClientConnection,
        done: @escaping (_ isWhole: Bool) -> Void
    ) {
        self.body = body
        self.loop = loop
        self.connection = connection
        self.done = done
    }

    func goOn() {
        guard !isOver, !isReading, let connection, connection.isWritable else { return }
        guard offset < body.byteCount else { return finish(isWhole: true) }
        isReading = true
        body.read(at: offset, count: Self.portion) { [self] bytes in
            loop.eventLoop.execute { self.read(bytes) }
        }
    }

    private func read(_ bytes: ByteBuffer?) {
        isReading = false
        guard !isOver, let connection else { return }
        guard let bytes, bytes.readableBytes > 0 else { return finish(isWhole: false) }
        offset += bytes.readableBytes
        connection.write(bytes)
        connection.flushNow()
        goOn()
    }

    private func finish(isWhole: Bool) {
        isOver = true
        done(isWhole)
    }

    func stop() { isOver = true }
}
