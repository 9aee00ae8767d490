package import LayoverCore
package import LayoverHTTP
package import NIOCore
import Synchronization

/// One request's body, kept so that it can be sent again: memory first, then a spool file, up to a limit.
///
/// The client's loop puts bytes in; the reader of the current attempt takes them out on another thread.
/// Neither touches a file: that happens on the spool's own threads. One lock guards the bookkeeping,
/// shared by the two sides of this one request only.
package final class CapturedBody: Sendable {
    /// How much is kept, and where.
    package struct Limits: Sendable {
        /// Bytes that stay in memory. Default: 64 KiB.
        package var inMemoryMax = 64 << 10
        /// Bytes of a body that can be sent again. Default: 64 MiB.
        package var byteCountMax = 64 << 20
        /// Bytes that may be between client and upstream, or between client and file. Default: 256 KiB.
        package var windowMax = 256 << 10

        package init() {}
    }

    package enum ReadResult: Sendable, Hashable {
        /// The number of bytes copied; always more than zero.
        case bytes(Int)
        /// Nothing there yet; `wake` will be called.
        case wait
        case end
        /// The rest will never come: the client broke off, or the file cannot be read.
        case brokenOff
    }

    /// What the client announced; nil for a chunked body.
    package let length: Int?
    private let capture: Mutex<BodyCapture>
    private let readerNumbers = Atomic<Int>(0)
    private let wake = Mutex<(@Sendable () -> Void)?>(nil)
    private let clientResumed: @Sendable () -> Void
    private let file: SpoolFile
    private struct Persisting {
        var name: String
        var isForced: Bool
        var done: @Sendable (StoredBody?) -> Void
    }

    private let persisting = Mutex<Persisting?>(nil)
    private let stuck: @Sendable () -> Void

    /// - Parameters:
    ///   - clientResumed: Called from any thread when a client that was told to wait may go on.
    ///   - stuck: Called from any thread when it will not go on before an attempt reads: a limit is reached. Maybe
    ///     more than once.
    package init(
        length: Int?, mayBeSentTwice: Bool, limits: Limits, spool: BodySpool,
        clientResumed: @escaping @Sendable () -> Void, stuck: @escaping @Sendable () -> Void = {}
    ) {
        self.length = length
        self.stuck = stuck
        self.clientResumed = clientResumed
        file = SpoolFile(spool: spool)
        var limits = limits
        limits.inMemoryMax = min(limits.inMemoryMax, limits.byteCountMax)
        capture = Mutex(BodyCapture(limits: limits, mayBeSentTwice: mayBeSentTwice))
    }

    /// A body that was kept over a restart, or since its request was accepted.
    package init(_ stored: StoredBody, trailers: RequestFields? = nil, limits: Limits, spool: BodySpool) {
        length = stored.byteCount
        clientResumed = {}
        stuck = {}
        switch stored {
        case .none, .inline:
            file = SpoolFile(spool: spool)
            var limits = limits
            limits.inMemoryMax = max(limits.inMemoryMax, stored.byteCount)
            var capture = BodyCapture(limits: limits, mayBeSentTwice: true)
            if case .inline(let bytes) = stored { _ = capture.received(bytes) }
            _ = capture.ended(.finished, trailers: trailers)
            self.capture = Mutex(capture)
        case .file(let name, let byteCount):
            file = SpoolFile(spool: spool, existing: name)
            capture = Mutex(BodyCapture(storedByteCount: byteCount, trailers: trailers, limits: limits))
        }
    }

    /// Makes the body outlive the process, once it is whole: in memory if it is small, else in a file of that name,
    /// synced together with its folder.
    ///
    /// - Parameters:
    ///   - isForced: Whether a small one is kept although `limits.spoolTotal` is reached. Default: no.
    ///   - done: Called once, from any thread, maybe from within. Nil: the disk or a limit forbids it, or the body will never be
    ///     whole.
    package func persist(as name: String, isForced: Bool = false, done: @escaping @Sendable (StoredBody?) -> Void) {
        persisting.withLock { $0 = Persisting(name: name, isForced: isForced, done: done) }
        perform(capture.withLock { $0.persistRequested() })
    }

    /// Takes back what `persist` did: there is no ticket that the body belongs to. Once the store has the file, its
    /// end is the store's business.
    package func disown() { file.disown() }

    /// Opens the file of a stored body, so that it can be relied on before anything is sent.
    ///
    /// - Returns: Nil if all of it is there, or it needs no file.
    package func opened() async -> StoredBodyFault? {
        await withCheckedContinuation { continuation in
            file.openExisting(byteCount: receivedByteCount) { continuation.resume(returning: $0) }
        }
    }

    // MARK: The client's side

    /// Takes the next bytes.
    ///
    /// - Returns: Whether the client may go on. If not, `clientResumed` is called when it may.
    package func append(_ chunk: ByteBuffer) -> Bool {
        let (effects, mayGoOn) = capture.withLock { ($0.received(chunk), !$0.isClientWaiting) }
        perform(effects)
        return mayGoOn
    }

    /// The body is complete. `trailers`: nil when there are none.
    package func finish(trailers: RequestFields? = nil) {
        perform(capture.withLock { $0.ended(.finished, trailers: trailers) })
    }

    /// The client went away before the end.
    package func breakOff() {
        perform(capture.withLock { $0.ended(.brokenOff) })
    }

    /// Tries once more to keep what the disk or `limits.spoolTotal` had no room for; without that it does nothing.
    ///
    /// If there is still none, `stuck` says so again, unless an attempt reads.
    package func roomMayBeBack() {
        perform(capture.withLock { $0.roomMayBeBack() })
    }

    /// Why the disk or the spool did not keep the body; nil if neither failed. The body may still be over its own limit.
    package var storingFailure: SpoolFailure? { file.failure }

    /// Whether the body is over its own limit. It may still be there whole, but not for two attempts.
    package var isTooLong: Bool { capture.withLock { $0.isOverItsLimit } }

    /// Whether a limit keeps the client waiting, and no attempt reads.
    package var isStuck: Bool { capture.withLock { $0.isStuck } }

    package var receivedByteCount: Int { capture.withLock { $0.receivedCount } }

    /// The body in the eyes of the rules.
    package var summary: RequestSummary.Body {
        capture.withLock { state in
            if state.isLost { return .lost }
            switch state.end {
            case .finished: return .captured
            case .brokenOff: return .brokenOff
            case nil: return .arriving
            }
        }
    }

    // MARK: Reading without consuming

    func peeked(at offset: Int, into target: UnsafeMutableRawBufferPointer) -> BodyCapture.Peek {
        capture.withLock { $0.peeked(at: offset, into: target) }
    }

    /// From the spool file; nil on an error.
    func fetched(at offset: Int, count: Int) async -> ByteBuffer? {
        await withCheckedContinuation { continuation in
            fetch(at: offset, count: count) { continuation.resume(returning: $0) }
        }
    }

    func fetch(at offset: Int, count: Int, done: @escaping @Sendable (ByteBuffer?) -> Void) {
        file.read(at: offset, count: count, done: done)
    }

    // MARK: The upstream's side

    /// Opens the reader of one attempt, at the start of the body. An earlier reader gets nothing any more.
    ///
    /// - Parameter wake: Called from any thread after a read said `wait`, once another is worth while.
    package func makeReader(wake: @escaping @Sendable () -> Void) -> Reader {
        let number = readerNumbers.add(1, ordering: .relaxed).newValue
        self.wake.withLock { $0 = wake }
        capture.withLock { $0.readerOpened(number: number) }
        return Reader(body: self, number: number)
    }

    /// The place of one attempt in the body.
    package struct Reader: Sendable {
        fileprivate let body: CapturedBody
        fileprivate let number: Int

        package func read(into target: UnsafeMutableRawBufferPointer) -> ReadResult {
            let (result, effects) = body.capture.withLock { $0.read(into: target, number: number) }
            body.perform(effects)
            return result
        }

        /// Whether all that came of the body has been read, and the client owes the rest.
        package var awaitsClient: Bool { body.capture.withLock { $0.awaitsClient(number) } }

        /// The trailers, once a read said `end`.
        package var trailers: RequestFields? { body.capture.withLock { $0.trailers } }

        package func close() {
            body.perform(body.capture.withLock { $0.readerClosed(number: number) })
        }
    }

    // MARK: Effects

    private func perform(_ effects: BodyCapture.Effects) {
        if let (bytes, offset) = effects.write {
            file.write(bytes, at: offset) { [self] isWritten in
                perform(
                    capture.withLock { isWritten ? $0.wrote(bytes.readableBytes) : $0.writeFailed() })
            }
        }
        if let (prefix, isInFile) = effects.persist { persist(prefix, isInFile: isInFile) }
        if effects.cannotPersist { persisted(nil) }
        if let fetch = effects.fetch {
            file.read(at: fetch.offset, count: fetch.count) { [self] bytes in
                perform(capture.withLock { $0.fetched(bytes, for: fetch.reader) })
            }
        }
        if effects.dropsFile { file.drop() }
        if effects.wakesReader { wake.withLock { $0 }?() }
        if effects.resumesClient { clientResumed() }
        if effects.isStuck { stuck() }
    }

    private func persist(_ prefix: ByteBuffer, isInFile: Bool) {
        let (name, isForced) = persisting.withLock { ($0?.name, $0?.isForced ?? false) }
        guard isInFile, let name else {
            let isStored = file.storeInRow(byteCount: prefix.readableBytes, isForced: isForced)
            return persisted(isStored ? .inline(prefix) : nil)
        }
        let byteCount = receivedByteCount
        file.persist(prefix, as: name) { [self] isStored in
            persisted(isStored ? .file(name: name, byteCount: byteCount) : nil)
        }
    }

    private func persisted(_ body: StoredBody?) {
        let waiting = persisting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        waiting?.done(body)
    }
}
