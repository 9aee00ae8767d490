import NIOCore

// The chunked transfer coding (RFC 9112 section 7.1).

extension RequestDecoder {
    /// Takes a chunk-size line. False: more bytes are needed.
    mutating func takeChunkSize(_ input: inout ByteBuffer) throws(FramingError) -> Bool {
        let line = try input.withReadableBytes { bytes throws(FramingError) -> ChunkSizeLine? in
            let line = try lines.nextLine(
                in: bytes, endMax: limits.chunkLineByteCountMax, tooLong: .chunkLineTooLong)
            guard let line else { return nil }
            return try ChunkSizeLine(line, in: bytes, isResponse: isResponse)
        }
        guard let line else { return false }
        chunkExtensionByteCount += line.extensionByteCount
        guard chunkExtensionByteCount <= limits.chunkExtensionByteCountMax else {
            throw .tooManyChunkExtensions
        }
        input.moveReaderIndex(forwardBy: lines.lineStart)
        lines.reset()
        state = line.byteCount == 0 ? .trailers : .chunkData(line.byteCount)
        return true
    }

    /// Takes the CRLF behind the data of a chunk, exactly. False: more bytes are needed.
    mutating func takeChunkEnd(_ input: inout ByteBuffer) throws(FramingError) -> Bool {
        guard let first = input.getInteger(at: input.readerIndex, as: UInt8.self) else {
            return false
        }
        guard first == ASCII.carriageReturn else { throw .malformedChunkEnd }
        guard let second = input.getInteger(at: input.readerIndex + 1, as: UInt8.self) else {
            return false
        }
        guard second == ASCII.lineFeed else { throw .malformedChunkEnd }
        input.moveReaderIndex(forwardBy: 2)
        state = .chunkSize
        return true
    }

    /// Takes the trailer section with its empty line. Nil: more bytes are needed.
    mutating func takeTrailers(_ input: inout ByteBuffer) throws(FramingError) -> FieldBlock? {
        let isComplete = try input.withReadableBytes { bytes throws(FramingError) in
            try fieldScan.read(
                bytes, lines: &lines,
                endMax: limits.trailerByteCountMax, tooLarge: .trailersTooLarge,
                countMax: limits.trailerFieldCountMax, tooMany: .tooManyTrailers,
                isResponse: isResponse)
        }
        guard isComplete, let slice = input.readSlice(length: lines.lineStart) else { return nil }
        lines.reset()
        let ranges = fieldScan.take()
        for range in ranges where KnownField.refusedInTrailers.contains(range.known) {
            throw .framingInTrailers
        }
        return FieldBlock(
            bytes: slice,
            ranges: ranges.filter { !KnownField.forbiddenInTrailers.contains($0.known) })
    }
}
