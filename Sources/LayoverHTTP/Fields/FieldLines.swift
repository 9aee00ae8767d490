package import NIOCore

/// Reads a text of field lines, `Name: value` and an end each, one after another.
package struct FieldLines: Sequence, IteratorProtocol, Sendable {
    /// How a line ends.
    package enum End: Sendable {
        /// With a NUL, as in `RequestFields`.
        case null
        /// With CRLF, as in the head of a response.
        case lineBreak

        package var bytes: [UInt8] { self == .null ? [0] : [ASCII.carriageReturn, ASCII.lineFeed] }
    }

    private var rest: ByteBuffer
    private let end: End

    package init(_ lines: ByteBuffer, end: End) {
        rest = lines
        self.end = end
    }

    package mutating func next() -> FieldSlice? {
        guard rest.readableBytes > 0 else { return nil }
        let last = end == .null ? 0 : ASCII.lineFeed
        let count = rest.withUnsafeReadableBytes { ByteScan.first(last, in: $0, 0..<$0.count) ?? $0.count }
        guard var line = rest.readSlice(length: count) else { return nil }
        rest.moveReaderIndex(forwardBy: Swift.min(1, rest.readableBytes))
        if end == .lineBreak, line.readableBytesView.last == ASCII.carriageReturn {
            line.moveWriterIndex(to: line.writerIndex - 1)
        }
        return FieldSlice(line)
    }
}

extension Sequence<FieldSlice> {
    /// The values of all fields of that name, in order. The name may have any case.
    package func values(of name: String) -> [ByteBuffer] {
        compactMap { $0.isField && $0.isNamed(name) ? $0.value : nil }
    }

    /// The same as text, for reading only: bytes that are not UTF-8 become U+FFFD.
    package func texts(of name: String) -> [String] {
        compactMap { $0.isField && $0.isNamed(name) ? $0.text : nil }
    }

    package func contains(_ name: String) -> Bool { contains { $0.isField && $0.isNamed(name) } }
}
