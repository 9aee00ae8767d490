import NIOCore

/// Finds line after line in bytes that arrive piecemeal, and looks at no byte twice.
///
/// Offsets count from the first readable byte of a buffer whose front stays where it is until the
/// whole section (head, chunk-size line, trailers) is taken from it.
struct LineCursor: Sendable {
    /// Where the line that is being looked for begins; after the last line, the section's length.
    private(set) var lineStart = 0

    /// Bytes before this offset contain no line feed that was not reported.
    private(set) var scannedByteCount = 0

    mutating func reset() {
        lineStart = 0
        scannedByteCount = 0
    }

    /// The lines that were read have been taken from the buffer, and no other bytes.
    mutating func skipReadLines() {
        scannedByteCount -= lineStart
        lineStart = 0
    }

    /// Returns the next line without its CRLF, or nil if it is not complete.
    ///
    /// Only CRLF ends a line. RFC 9112 section 2.2 would allow a lone LF too.
    /// A lone LF is not accepted: requests are smuggled between two parsers that disagree about it.
    ///
    /// - Parameters:
    ///   - endMax: Offset beyond which the line (CRLF included) must not reach.
    ///   - tooLong: What is thrown if it does, as soon as that is certain.
    @inline(__always)
    mutating func nextLine(
        in bytes: UnsafeRawBufferPointer, endMax: Int, tooLong: FramingError
    ) throws(FramingError) -> Range<Int>? {
        guard let line = try nextLineFeed(in: bytes, endMax: endMax, tooLong: tooLong) else { return nil }
        guard line.count >= 2, bytes[line.upperBound &- 2] == ASCII.carriageReturn else { throw .bareLineFeed }
        return line.lowerBound..<(line.upperBound &- 2)
    }

    /// Returns the next line with its end, whatever stands before the line feed, or nil if it is not complete. The caller judges the end.
    @inline(__always)
    mutating func nextLineFeed(
        in bytes: UnsafeRawBufferPointer, endMax: Int, tooLong: FramingError
    ) throws(FramingError) -> Range<Int>? {
        guard let lineFeed = ByteScan.firstLineFeed(in: bytes, from: scannedByteCount) else {
            scannedByteCount = bytes.count
            if bytes.count >= endMax { throw tooLong }
            return nil
        }
        if lineFeed >= endMax { throw tooLong }
        let line = lineStart..<(lineFeed + 1)
        lineStart = lineFeed + 1
        scannedByteCount = lineStart
        return line
    }
}

extension ByteBuffer {
    /// Lends the readable bytes to `body` and keeps its typed error, which `rethrows` would erase.
    @inline(__always)
    func withReadableBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(FramingError) -> Value
    ) throws(FramingError) -> Value {
        let result: Result<Value, FramingError> = withUnsafeReadableBytes { bytes in
            do throws(FramingError) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
