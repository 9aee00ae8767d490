package import NIOCore

/// Writes the chunked transfer coding (RFC 9112 section 7.1).
package enum ChunkWriter {
    /// Appends `data` as one chunk. Empty data is not written: it would end the body.
    package static func writeChunk(_ data: ByteBuffer, into out: inout ByteBuffer) {
        guard data.readableBytes > 0 else { return }
        out.reserveCapacity(minimumWritableBytes: data.readableBytes + 20)
        writeChunkHead(byteCount: data.readableBytes, into: &out)
        out.writeImmutableBuffer(data)
        writeChunkEnd(into: &out)
    }

    /// Appends the line before a chunk, for a caller that writes the data by itself.
    ///
    /// - Parameter byteCount: More than 0.
    package static func writeChunkHead(byteCount: Int, into out: inout ByteBuffer) {
        let digitCount = max(1, (Int.bitWidth - byteCount.leadingZeroBitCount + 3) / 4)
        for place in (0..<digitCount).reversed() {
            let digit = UInt8(truncatingIfNeeded: (byteCount >> (place * 4)) & 0xF)
            out.writeInteger(digit < 10 ? ASCII.zero + digit : 0x61 - 10 + digit)
        }
        writeChunkEnd(into: &out)
    }

    /// Appends the CRLF behind the data of a chunk.
    package static func writeChunkEnd(into out: inout ByteBuffer) {
        out.writeStaticString("\r\n")
    }

    /// Appends the last chunk, which completes the message.
    ///
    /// - Parameter trailers: Whole lines with CRLF, as `ResponseTrailerAssembler` gathers them.
    package static func writeLastChunk(trailers: ByteBuffer? = nil, into out: inout ByteBuffer) {
        out.writeStaticString("0\r\n")
        if let trailers { out.writeImmutableBuffer(trailers) }
        out.writeStaticString("\r\n")
    }
}
