import LayoverHTTP
import NIOCore

/// The bookkeeping of one request body: where each byte is kept, and which side may continue.
///
/// Bytes come in from the client in order. The first ones stay in memory (`prefix`); later ones pass
/// through a window in memory (`tail`) and are written to a spool file. One reader at a time sends them
/// upstream and takes each byte from where it is. Bytes are no longer kept when the request can never be sent
/// a second time, or when a limit is reached after a reader has begun. From then on the body only flows
/// through the window and is *lost* for another attempt. While no reader has begun, a body over a limit is
/// not lost: the client waits instead. A complete body within its own limit is not lost when the disk is full:
/// the bytes that the disk did not take are in the window, which is bounded.
///
/// A pure machine: facts in, effects out. `CapturedBody` performs them.
struct BodyCapture {
    enum End { case finished, brokenOff }

    /// What the caller has to do once the lock is released.
    struct Effects {
        var wakesReader = false
        var resumesClient = false
        /// Bytes to write to the spool file, and where in it.
        var write: (bytes: ByteBuffer, offset: Int)?
        /// Bytes to fetch from the spool file, and the reader that wants them.
        var fetch: (offset: Int, count: Int, reader: Int)?
        var dropsFile = false
        /// The body is complete, and `persist` was called. `prefix`: the bytes that are not in the file.
        var persist: (prefix: ByteBuffer, isInFile: Bool)?
        /// The body cannot be persisted: it is lost, it broke off, or a limit is reached.
        var cannotPersist = false
        /// Keeping it went over a limit while no attempt reads it: the client has to wait.
        var isStuck = false
    }

    /// Chunks in the window are joined up to this size. Default: 4 KiB.
    private static let gatherMax = 4 << 10

    struct Reader {
        var number: Int
        var position = 0
        var isWaiting = false
        var fetched = ByteBuffer()
        var isFetching = false
    }

    let limits: CapturedBody.Limits
    let mayBeSentTwice: Bool

    private(set) var receivedCount = 0
    private(set) var end: End?
    private(set) var trailers: RequestFields?
    private(set) var isCapturing = true
    private(set) var isClientWaiting = false

    private var prefix = ByteBuffer()
    private var prefixCount = 0
    private var tail = CircularBuffer<ByteBuffer>()
    /// Bytes in the window; a test holds it against its limit.
    private(set) var tailCount = 0
    /// End of what is in the prefix or in the file.
    private var capturedCount = 0
    private var isWriting = false
    /// The disk or `limits.spoolTotal` was full when last written to.
    private var isDiskFull = false
    private var mustPersist = false
    private var reader: Reader?

    /// Whether the body is longer than one that can be sent again.
    var isOverItsLimit: Bool { receivedCount > limits.byteCountMax }
    private var isLimitReached: Bool { isOverItsLimit || isDiskFull }
    /// Whether no more of the body is kept before an attempt reads it.
    var isStuck: Bool { isCapturing && isLimitReached && reader == nil }

    init(limits: CapturedBody.Limits, mayBeSentTwice: Bool) {
        self.limits = limits
        self.mayBeSentTwice = mayBeSentTwice
    }

    /// A body that lies in a file already.
    init(storedByteCount: Int, trailers: RequestFields?, limits: CapturedBody.Limits) {
        self.init(limits: limits, mayBeSentTwice: true)
        receivedCount = storedByteCount
        capturedCount = storedByteCount
        end = .finished
        self.trailers = trailers
    }

    /// The body has to outlive the process. Called once.
    mutating func persistRequested() -> Effects {
        mustPersist = true
        return updated(wakes: false)
    }

    // MARK: Facts from the client

    mutating func received(_ chunk: ByteBuffer) -> Effects {
        receivedCount += chunk.readableBytes
        if isCapturing, tailCount == 0, capturedCount == prefixCount,
            prefixCount + chunk.readableBytes <= limits.inMemoryMax
        {
            prefix.writeImmutableBuffer(chunk)
            prefixCount += chunk.readableBytes
            capturedCount = prefixCount
        } else {
            appendToTail(chunk)
        }
        return updated(wakes: true)
    }

    mutating func ended(_ end: End, trailers: RequestFields? = nil) -> Effects {
        guard self.end == nil else { return Effects() }
        self.end = end
        self.trailers = trailers
        return updated(wakes: true)
    }

    // MARK: Facts from the spool file

    mutating func wrote(_ count: Int) -> Effects {
        isWriting = false
        capturedCount += count
        return updated(wakes: false)
    }

    /// The disk or `limits.spoolTotal` is full: the same as a body over its own limit, for the time being.
    mutating func writeFailed() -> Effects {
        isWriting = false
        isDiskFull = true
        return updated(wakes: false)
    }

    /// There may be room by now: what was refused is written once more.
    mutating func roomMayBeBack() -> Effects {
        guard isDiskFull, isCapturing else { return Effects() }
        isDiskFull = false
        return updated(wakes: false)
    }

    mutating func fetched(_ bytes: ByteBuffer?, for number: Int) -> Effects {
        guard reader?.number == number else { return Effects() }
        reader?.isFetching = false
        guard let bytes else {
            // An unreadable file means that the rest can never be sent, complete as it came.
            end = .brokenOff
            return updated(wakes: true)
        }
        reader?.fetched = bytes
        return updated(wakes: true)
    }

    // MARK: Facts from the reader

    mutating func readerOpened(number: Int) {
        reader = Reader(number: number)
    }

    mutating func readerClosed(number: Int) -> Effects {
        guard reader?.number == number else { return Effects() }
        reader = nil
        return updated(wakes: false)
    }

    mutating func read(
        into target: UnsafeMutableRawBufferPointer, number: Int
    ) -> (CapturedBody.ReadResult, Effects) {
        guard var current = reader, current.number == number, end != .brokenOff else {
            return (.brokenOff, Effects())
        }
        // mutant: half-body
        guard isCapturing || current.position > 0 || receivedCount == 0 else {
            return (.brokenOff, Effects())
        }
        guard let count = copy(into: target, for: &current) else {
            return atEndOfKnownBytes(&current)
        }
        current.position += count
        reader = current
        if !mayBeSentTwice { isCapturing = false }
        return (.bytes(count), updated(wakes: false))
    }

    /// Whether a reader has read all that came, and the client owes the rest. Bytes that the spool file is still to give have come.
    func awaitsClient(_ number: Int) -> Bool {
        guard let reader, reader.number == number else { return false }
        return end == nil && reader.position == receivedCount
    }

    enum Peek {
        case copied(Int)
        /// The number of bytes from there on that are in the spool file.
        case inFile(Int)
        case gone
    }

    /// Copies bytes kept at an offset, without an effect on the attempt that sends the body.
    func peeked(at offset: Int, into target: UnsafeMutableRawBufferPointer) -> Peek {
        guard isCapturing, offset < receivedCount else { return .gone }
        var peeker = Reader(number: 0, position: offset)
        if let count = copy(into: target, for: &peeker) { return .copied(count) }
        return .inFile(min(capturedCount, receivedCount - tailCount) - offset)
    }

    /// Whether the body cannot be sent from its start any more.
    // mutant: half-body.2
    var isLost: Bool { !isCapturing }

    // MARK: Parts

    /// A chunk is a slice of what was read from the socket and keeps all of that alive, so many small
    /// ones must not be kept one by one.
    private mutating func appendToTail(_ chunk: ByteBuffer) {
        tailCount += chunk.readableBytes
        if let last = tail.indices.last, tail[last].readableBytes + chunk.readableBytes <= Self.gatherMax {
            tail[last].writeImmutableBuffer(chunk)
        } else {
            tail.append(chunk)
        }
    }

    /// Copies from the prefix, from what was fetched, or from the tail; nil when the bytes are elsewhere.
    private func copy(
        into target: UnsafeMutableRawBufferPointer, for reader: inout Reader
    ) -> Int? {
        let position = reader.position
        if position < prefixCount { return Self.copy(prefix, from: position, into: target) }
        if reader.fetched.readableBytes > 0 {
            let count = Self.copy(reader.fetched, from: 0, into: target)
            reader.fetched.moveReaderIndex(forwardBy: count)
            return count
        }
        var start = receivedCount - tailCount
        guard position >= start else { return nil }
        for chunk in tail {
            if position < start + chunk.readableBytes {
                return Self.copy(chunk, from: position - start, into: target)
            }
            start += chunk.readableBytes
        }
        return nil
    }

    private static func copy(
        _ buffer: ByteBuffer, from offset: Int, into target: UnsafeMutableRawBufferPointer
    ) -> Int {
        buffer.withUnsafeReadableBytes { bytes in
            let count = min(bytes.count - offset, target.count)
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            return count
        }
    }

    private mutating func atEndOfKnownBytes(
        _ current: inout Reader
    ) -> (CapturedBody.ReadResult, Effects) {
        if current.position == receivedCount, end == .finished { return (.end, Effects()) }
        var effects = Effects()
        current.isWaiting = true
        let tailStart = receivedCount - tailCount
        if current.position < tailStart, !current.isFetching {
            current.isFetching = true
            effects.fetch = (
                current.position,
                min(limits.windowMax, min(capturedCount, tailStart) - current.position),
                current.number
            )
        }
        reader = current
        return (.wait, effects)
    }

    /// What follows from the new state, after each fact: stops keeping, starts writing, trims, wakes.
    private mutating func updated(wakes: Bool) -> Effects {
        var effects = Effects()
        if isLimitReached, !isWholeWithoutDisk, let reader, reader.position > 0 { isCapturing = false }
        if !isCapturing { dropUnreadBytes(&effects) }
        if isCapturing, !isWriting, !isLimitReached, tailCount > 0 { startWriting(&effects) }
        trimTail()
        if mustPersist { updatePersistence(&effects) }
        let mayGoOn = tailCount < limits.windowMax && !(isCapturing && isLimitReached)
        if isClientWaiting, mayGoOn { effects.resumesClient = true }
        effects.isStuck = isStuck
        isClientWaiting = !mayGoOn
        if wakes, reader?.isWaiting == true {
            reader?.isWaiting = false
            effects.wakesReader = true
        }
        return effects
    }

    private var isWholeWithoutDisk: Bool { end == .finished && !isOverItsLimit }

    private mutating func startWriting(_ effects: inout Effects) {
        var skipped = capturedCount - (receivedCount - tailCount)
        var bytes = ByteBuffer()
        for var chunk in tail {
            let already = min(skipped, chunk.readableBytes)
            skipped -= already
            chunk.moveReaderIndex(forwardBy: already)
            bytes.writeBuffer(&chunk)
        }
        guard bytes.readableBytes > 0 else { return }
        isWriting = true
        effects.write = (bytes, capturedCount)
    }

    private mutating func updatePersistence(_ effects: inout Effects) {
        if !isCapturing || end == .brokenOff || isLimitReached {
            mustPersist = false
            effects.cannotPersist = true
        } else if end == .finished, capturedCount == receivedCount, !isWriting {
            mustPersist = false
            effects.persist = (prefix, capturedCount > prefixCount)
        }
    }

    /// The tail keeps what the file does not have yet and what a reader on the heels of the client needs.
    private mutating func trimTail() {
        var start = receivedCount - tailCount
        let position = reader?.position ?? (isCapturing ? .max : receivedCount)
        let end = isCapturing ? min(capturedCount, position) : position
        while let first = tail.first, start + first.readableBytes <= end {
            start += first.readableBytes
            tailCount -= first.readableBytes
            tail.removeFirst()
        }
    }

    private mutating func dropUnreadBytes(_ effects: inout Effects) {
        let position = reader?.position ?? .max
        if position >= prefixCount { prefix = ByteBuffer() }
        if position >= capturedCount, !isWriting { effects.dropsFile = true }
    }
}
