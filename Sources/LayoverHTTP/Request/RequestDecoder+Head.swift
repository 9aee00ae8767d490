import NIOCore

extension RequestDecoder {
    /// Enters the head at its first byte. False: more bytes are needed.
    mutating func beginHead(_ input: inout ByteBuffer) throws(FramingError) -> Bool {
        while let first = input.getInteger(at: input.readerIndex, as: UInt8.self) {
            if first == ASCII.carriageReturn {
                guard let second = input.getInteger(at: input.readerIndex + 1, as: UInt8.self)
                else {
                    return false
                }
                guard second == ASCII.lineFeed else { throw .bareCarriageReturn }
                guard !hasSkippedEmptyLine else { throw .emptyLines }
                hasSkippedEmptyLine = true
                input.moveReaderIndex(forwardBy: 2)
                continue
            }
            if first == ASCII.lineFeed { throw .bareLineFeed }
            // Refuse at once what cannot become a request, such as a TLS handshake: it may never
            // contain the line end that we would wait for.
            guard ByteClass.isToken(first) else { throw .malformedMethod }
            state = .head
            return true
        }
        return false
    }

    /// Reads the head as far as it is there, and takes it once it is complete.
    mutating func takeHead(_ input: inout ByteBuffer) throws(FramingError) -> RequestHead? {
        let isComplete = try input.withReadableBytes { bytes throws(FramingError) in
            try scanHead(bytes)
        }
        guard isComplete, let line = requestLine,
            let slice = input.getSlice(at: input.readerIndex, length: lines.lineStart)
        else { return nil }
        let fields = FieldBlock(bytes: slice, ranges: fieldScan.take())
        requestLine = nil
        lines.reset()
        let head = try slice.withReadableBytes { bytes throws(FramingError) in
            try RequestHead(line: line, fields: fields, isHTTP2: isHTTP2, in: bytes)
        }
        // A head that is refused stays in the input, for the access log.
        input.moveReaderIndex(forwardBy: slice.readableBytes)
        isLast = !head.keepAlive
        switch head.framing {
        case .none: state = .fixedBody(0)
        case .length(let byteCount): state = .fixedBody(byteCount)
        case .chunked:
            state = .chunkSize
            chunkExtensionByteCount = 0
        }
        return head
    }

    /// Line by line, so that a wrong one is refused when it is there and not when all are.
    private mutating func scanHead(_ bytes: UnsafeRawBufferPointer) throws(FramingError) -> Bool {
        if requestLine == nil {
            guard
                let line = try lines.nextLine(
                    in: bytes, endMax: limits.headByteCountMax, tooLong: .requestLineTooLong)
            else { return false }
            requestLine = try RequestLine(line, in: bytes)
        }
        return try fieldScan.read(
            bytes, lines: &lines, endMax: limits.headByteCountMax, tooLarge: .headTooLarge,
            countMax: limits.fieldCountMax, tooMany: .tooManyFields)
    }
}
