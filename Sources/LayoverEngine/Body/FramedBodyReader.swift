package import LayoverHTTP

/// Reads the body of a request as it stands on the wire: chunks with their framing, and never more bytes than were announced.
package struct FramedBodyReader: Sendable {
    private let reader: CapturedBody.Reader
    /// Bytes that are still to be read; of a body without a length as many as come.
    private var bytesLeft = Int.max
    private let hasLength: Bool
    /// Frames a chunked body; nil if the body gets no frames here.
    private var chunks: ChunkedReader?
    /// Whether all of the body, its framing included, has been read.
    package private(set) var isComplete = false

    /// - Parameters:
    ///   - framesChunks: Whether a body without a length gets the framing of chunks. Otherwise its sender does that.
    ///   - wake: Called from any thread after a read said `wait`, once another is worth while.
    package init(
        _ body: CapturedBody, framing: BodyFraming, framesChunks: Bool = true, wake: @escaping @Sendable () -> Void
    ) {
        reader = body.makeReader(wake: wake)
        switch framing {
        case .length(let count):
            bytesLeft = count
            hasLength = true
            isComplete = count == 0
        case .chunked, .none:
            hasLength = false
            if framesChunks { chunks = ChunkedReader() }
        }
    }

    /// The next bytes; `end` once `isComplete`. A body that ends before its announced length is `brokenOff`.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> CapturedBody.ReadResult {
        if isComplete { return .end }
        let result: CapturedBody.ReadResult
        if chunks != nil {
            result = chunks?.read(into: buffer, from: reader) ?? .brokenOff
            isComplete = chunks?.isComplete == true
        } else {
            result = reader.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, bytesLeft)]))
            if case .bytes(let count) = result {
                bytesLeft -= count
                isComplete = bytesLeft == 0
            }
            if !hasLength, result == .end { isComplete = true }
        }
        return result == .end && !isComplete ? .brokenOff : result
    }

    /// Whether all that came of the body has been read, and the client owes the rest.
    package var awaitsClient: Bool { !isComplete && reader.awaitsClient }

    /// Reads nothing more.
    package func close() { reader.close() }
}
