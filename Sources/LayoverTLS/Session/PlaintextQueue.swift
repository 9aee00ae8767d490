import NIOCore

/// Bytes that were written on a channel and are not encrypted yet, in order.
struct PlaintextQueue {
    struct Piece {
        var bytes: ByteBuffer
        var promise: EventLoopPromise<Void>?
        var byteCount: Int { bytes.readableBytes }
    }

    /// Bytes that are encrypted at a time: four records.
    static let pieceByteCountMax = 64 << 10
    /// What the records of a piece add, at most: 5 bytes of header, 17 of tag and content type, and the explicit nonce of TLS 1.2, for
    /// each of them.
    static let overheadByteCount = 160

    private var writes = MarkedCircularBuffer<Piece>(initialCapacity: 8)
    private var byteCount = 0
    /// Whether the writer wants its end told after the last byte.
    private(set) var endsOutput = false
    private var outputEnd: EventLoopPromise<Void>?
    private var isOutputEnded = false
    /// Whether `take` is at work.
    var isTaking = false

    var isEmpty: Bool { writes.isEmpty }

    /// Whether more waits than is worth gathering.
    var isLarge: Bool { byteCount >= Self.pieceByteCountMax }

    /// - Returns: Whether the bytes are taken. No bytes can follow the end of the output.
    mutating func append(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?) -> Bool {
        guard !endsOutput, !isOutputEnded else {
            promise?.fail(ChannelError.outputClosed)
            return false
        }
        writes.append(Piece(bytes: bytes, promise: promise))
        byteCount += bytes.readableBytes
        if isLarge { writes.mark() }
        return true
    }

    mutating func flush() { writes.mark() }

    /// The next bytes that were flushed: small writes together, large ones in parts.
    mutating func take() -> Piece? {
        guard writes.hasMark, var piece = writes.first else { return nil }
        if piece.byteCount > Self.pieceByteCountMax {
            guard let part = writes[writes.startIndex].bytes.readSlice(length: Self.pieceByteCountMax) else { return nil }
            byteCount -= part.readableBytes
            return Piece(bytes: part, promise: nil)
        }
        removeFirst()
        while writes.hasMark, var next = writes.first, piece.byteCount + next.byteCount <= Self.pieceByteCountMax {
            removeFirst()
            piece.bytes.writeBuffer(&next.bytes)
            piece.promise.setOrCascade(to: next.promise)
        }
        return piece
    }

    private mutating func removeFirst() { byteCount -= writes.removeFirst().byteCount }

    /// Sends all that was written, and the end behind it.
    mutating func endOutput(_ promise: EventLoopPromise<Void>?) {
        guard !endsOutput, !isOutputEnded else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        flush()
        endsOutput = true
        outputEnd = promise
    }

    mutating func takeOutputEnd() -> EventLoopPromise<Void>? {
        endsOutput = false
        isOutputEnded = true
        defer { outputEnd = nil }
        return outputEnd
    }

    mutating func fail(_ error: any Error) {
        let lost = writes
        writes = MarkedCircularBuffer(initialCapacity: 0)
        byteCount = 0
        let promise = outputEnd
        outputEnd = nil
        for piece in lost { piece.promise?.fail(error) }
        promise?.fail(error)
    }
}
