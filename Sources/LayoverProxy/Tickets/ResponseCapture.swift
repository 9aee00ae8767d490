import LayoverEngine
import LayoverHTTP
import NIOCore

/// The response to a ticket on its way to the store: small ones in memory, others in a spool file.
///
/// Confined to its loop. `@unchecked Sendable`: the calls of others switch to it.
final class ResponseCapture: @unchecked Sendable {
    private let status: Int
    private let fields: ByteBuffer
    private let loop: ProxyLoop
    private let took: (Int) -> Void
    /// The body of the response. Nil: no body can follow, or it is lost.
    private var body: CapturedBody?
    private let hasBody: Bool
    /// Whether the body cannot be kept.
    private(set) var isLost = false
    /// Called on the loop, once, when that has turned out. The rest of the body is of no use then.
    var whenLost: () -> Void = {}
    /// Bytes that the worker is not yet told of as taken.
    private var untaken = 0

    /// - Parameters:
    ///   - byteCountMax: A longer body is not kept.
    ///   - took: Called on the loop with the number of bytes that count as taken now.
    init(_ head: ResponseHead, loop: ProxyLoop, byteCountMax: Int = .max, took: @escaping (Int) -> Void) {
        status = head.status
        fields = Self.fieldLines(of: head)
        self.loop = loop
        self.took = took
        hasBody = head.framing != .none
        guard head.framing != .none else { return }
        var limits = loop.configuration.body
        limits.byteCountMax = byteCountMax
        if let length = head.contentLength, length > min(byteCountMax, loop.spool.byteCountMax) {
            // There will never be room for it.
            isLost = true
            return
        }
        body = CapturedBody(
            length: head.contentLength, mayBeSentTwice: true, limits: limits, spool: loop.spool,
            clientResumed: { [weak self] in loop.eventLoop.execute { [weak self] in self?.resumed() } },
            stuck: { [weak self] in loop.eventLoop.execute { [weak self] in self?.lost() } })
    }

    /// Without the status line, and without the length, which is computed for each client that asks for the response.
    private static func fieldLines(of head: ResponseHead) -> ByteBuffer {
        let fields = head.fields()
        var out = ByteBuffer()
        for range in fields.ranges where !fields.equalsIgnoringCase(range.name, "content-length") {
            out.writeImmutableBuffer(fields.slice(range.name))
            out.writeStaticString(": ")
            out.writeImmutableBuffer(fields.slice(range.value))
            out.writeStaticString("\r\n")
        }
        return out
    }

    func append(_ bytes: ByteBuffer) {
        guard let body, !isLost else { return took(bytes.readableBytes) }
        if body.append(bytes) { took(bytes.readableBytes) } else { untaken += bytes.readableBytes }
    }

    private func resumed() {
        let count = untaken
        untaken = 0
        took(count)
    }

    /// The disk or the spool is full: the origin did its work, so its response counts, without the body.
    private func lost() {
        guard !isLost else { return }
        isLost = true
        body?.breakOff()
        body = nil
        resumed()
        whenLost()
    }

    /// - Parameter done: Called on the loop, once.
    func finish(as name: String, done: @escaping (StoredResponse) -> Void) {
        guard let body, !isLost else { return done(withoutBody()) }
        let (status, fields, loop) = (status, fields, loop)
        // Called on the loop, where it came from.
        nonisolated(unsafe) let done = done
        body.finish()
        // What the origin did must not be lost for a few bytes: a small response counts, and is kept in any case.
        body.persist(as: name, isForced: true) { stored in
            loop.eventLoop.execute {
                done(
                    StoredResponse(
                        status: status, fields: fields, body: stored ?? .none, isBodyLost: stored == nil))
            }
        }
    }

    /// The response is complete. Returns it for other requests with the same key.
    func shared(_ head: ResponseHead) -> SharedResponse {
        body?.finish()
        return SharedResponse(status: status, head: head.bytes, body: body, isBodyLost: isLost)
    }

    /// The response is not needed any more.
    func discard() { body?.disown() }

    /// The response without its body.
    func withoutBody() -> StoredResponse {
        StoredResponse(status: status, fields: fields, body: .none, isBodyLost: hasBody)
    }
}
