import LayoverHTTP
import NIOCore

/// Reads a body in the chunked transfer coding (RFC 9112 section 7.1), ready to be sent.
///
/// libcurl could frame the chunks itself, but takes trailers only by TRAILERFUNCTION, which before 8.7.0
/// corrupts the heap at its second use on one handle (docs/libcurl.md). So it too gets bytes that are framed
/// already, and nothing that knows of trailers.
struct ChunkedReader {
    /// What did not fit into the last buffer: most of it is the last chunk with long trailers.
    private var left = ByteBuffer()
    /// Whether the last chunk has been made.
    private var hasEnded = false

    /// Whether all of the body, its last chunk included, has been read.
    var isComplete: Bool { hasEnded && left.readableBytes == 0 }

    /// Bytes that surround the data of the longest chunk: its size in hexadecimal digits, and two line ends.
    private static let framingByteCountMax = Int.bitWidth / 4 + 4

    /// The next bytes of the body with their framing; `end` once `isComplete`.
    mutating func read(
        into buffer: UnsafeMutableRawBufferPointer, from reader: CapturedBody.Reader
    ) -> CapturedBody.ReadResult {
        if left.readableBytes > 0 { return .bytes(takeLeft(into: buffer)) }
        if hasEnded { return .end }
        let result = buffer.count > Self.framingByteCountMax
            ? readChunk(into: buffer, from: reader) : readAside(from: reader)
        switch result {
        case .bytes(let count) where count > 0: return result
        case .bytes: return .bytes(takeLeft(into: buffer))
        case .end:
            hasEnded = true
            ChunkWriter.writeLastChunk(trailers: reader.trailers.map(Self.lines), into: &left)
            return .bytes(takeLeft(into: buffer))
        case .wait, .brokenOff: return result
        }
    }

    /// Reads one chunk straight into the buffer.
    private func readChunk(
        into buffer: UnsafeMutableRawBufferPointer, from reader: CapturedBody.Reader
    ) -> CapturedBody.ReadResult {
        // The shortest head and the line end behind the data take 5 bytes: no chunk is longer than what is left of the buffer.
        let headByteCountMax = Self.headByteCount(of: buffer.count - 5)
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[headByteCountMax..<buffer.count - 2])
        let result = reader.read(into: room)
        guard case .bytes(let count) = result else { return result }
        let headByteCount = Self.headByteCount(of: count)
        if headByteCount < headByteCountMax {
            // A short chunk has fewer digits; leading zeros are allowed, but who reads them is not known.
            UnsafeMutableRawBufferPointer(rebasing: buffer[headByteCount..<headByteCount + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
        Self.writeHead(of: count, into: buffer)
        buffer[headByteCount + count] = UInt8(ascii: "\r")
        buffer[headByteCount + count + 1] = UInt8(ascii: "\n")
        return .bytes(headByteCount + count + 2)
    }

    /// Reads one chunk into `left`, for a buffer that is too small for any. Gives 0 bytes where it did.
    private mutating func readAside(from reader: CapturedBody.Reader) -> CapturedBody.ReadResult {
        var data = ByteBuffer()
        var result = CapturedBody.ReadResult.wait
        data.writeWithUnsafeMutableBytes(minimumWritableBytes: 1024) { memory in
            result = reader.read(into: memory)
            if case .bytes(let count) = result { return count }
            return 0
        }
        guard case .bytes = result else { return result }
        ChunkWriter.writeChunk(data, into: &left)
        return .bytes(0)
    }

    private mutating func takeLeft(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, left.readableBytes)
        left.readWithUnsafeReadableBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            return count
        }
        return count
    }

    // MARK: Text

    /// Digits and line end before a chunk of so many bytes, which are more than none.
    private static func headByteCount(of byteCount: Int) -> Int {
        (Int.bitWidth - byteCount.leadingZeroBitCount + 3) / 4 + 2
    }

    private static func writeHead(of byteCount: Int, into buffer: UnsafeMutableRawBufferPointer) {
        let digitCount = headByteCount(of: byteCount) - 2
        for place in 0..<digitCount {
            let digit = UInt8(truncatingIfNeeded: (byteCount >> ((digitCount - 1 - place) * 4)) & 0xF)
            buffer[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
        }
        buffer[digitCount] = UInt8(ascii: "\r")
        buffer[digitCount + 1] = UInt8(ascii: "\n")
    }

    /// Trailers as they are sent.
    private static func lines(_ trailers: RequestFields) -> ByteBuffer {
        var lines = ByteBuffer()
        trailers.write(into: &lines)
        return lines
    }
}
