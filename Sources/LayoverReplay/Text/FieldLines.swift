import NIOCore

/// The field lines of a request (`Name: value`, or `Name;` for an empty value, and a NUL each) or of an answer
/// (`Name: value` and a CRLF each).
struct FieldLines: Sequence, IteratorProtocol {
    /// One line.
    struct Line {
        /// As it was written.
        var name: String
        /// Without white space around it.
        var value: ByteBuffer
        /// All of it, without what ends it.
        var bytes: ByteBuffer
        /// The offset of the value in `bytes`.
        var valueStart: Int
    }

    private var rest: ByteBuffer

    init(_ fields: ByteBuffer) {
        rest = fields
    }

    mutating func next() -> Line? {
        guard rest.readableBytes > 0 else { return nil }
        let view = rest.readableBytesView
        let count = (view.firstIndex { $0 == 0 || $0 == 10 } ?? view.endIndex) - view.startIndex
        guard var bytes = rest.readSlice(length: count) else { return nil }
        rest.moveReaderIndex(forwardBy: Swift.min(1, rest.readableBytes))
        if bytes.readableBytesView.last == 13, let line = bytes.readSlice(length: count - 1) { bytes = line }
        return Self.line(bytes)
    }

    /// A line without a colon is none that anybody may send; it is all name here, and so is kept as it is.
    private static func line(_ bytes: ByteBuffer) -> Line {
        let view = bytes.readableBytesView
        let nameEnd = view.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") } ?? view.endIndex
        let name = String(decoding: view[..<nameEnd], as: UTF8.self)
        var start = Swift.min(nameEnd + 1, view.endIndex)
        var end = view.endIndex
        while start < end, view[start] == 32 || view[start] == 9 { start += 1 }
        while start < end, view[end - 1] == 32 || view[end - 1] == 9 { end -= 1 }
        let value = bytes.getSlice(at: start, length: end - start) ?? ByteBuffer()
        return Line(name: name, value: value, bytes: bytes, valueStart: start - view.startIndex)
    }
}

extension FieldLines {
    /// The values of all lines with that name, which is in lower case.
    static func values(of name: String, in fields: ByteBuffer) -> [ByteBuffer] {
        FieldLines(fields).filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// As text; bytes that are no UTF-8 become U+FFFD.
    static func texts(of name: String, in fields: ByteBuffer) -> [String] {
        values(of: name, in: fields).map { String(buffer: $0) }
    }
}
