package import NIOCore

/// The fields of a request on its way upstream, or its trailers: names and values in their order, duplicates included.
///
/// All of them stand in one buffer, so that a request has one allocation for its fields, however many they are, and a
/// copy of the request has none. They are made from the client's head once, by the rules of forwarding
/// (`RequestHead.writeForwardedFields`), and copied once, to where libcurl reads them; only requests that wait or that
/// a policy looks into are read in between. Host and the framing fields are not among them: whoever sends the request
/// writes those.
///
/// Names are tokens and values have no control characters but HTAB (RFC 9110 section 5.5): the decoder and the
/// configuration refuse anything else.
package struct RequestFields: Sendable, Hashable {
    /// Each field as `Name: value` and a NUL, which cannot occur in a field. With an empty value `Name: `. This is also
    /// the form in which a store keeps them.
    package internal(set) var lines: ByteBuffer

    package init() { lines = ByteBuffer() }

    /// - Parameter lines: What `lines` of other fields was.
    package init(lines: ByteBuffer) { self.lines = lines }

    package var isEmpty: Bool { lines.readableBytes == 0 }

    /// The memory that they take.
    package var byteCount: Int { lines.readableBytes }

    package mutating func reserveCapacity(_ byteCount: Int) { lines.reserveCapacity(byteCount) }

    // MARK: Changes

    package mutating func append(_ name: String, _ value: String) {
        lines.writeString(name)
        lines.writeStaticString(": ")
        lines.writeString(value)
        lines.writeInteger(0 as UInt8)
    }

    package mutating func append(_ name: String, _ value: ByteBuffer) {
        lines.writeString(name)
        lines.writeStaticString(": ")
        lines.writeImmutableBuffer(value)
        lines.writeInteger(0 as UInt8)
    }

    /// Appends a field of other fields, byte for byte.
    package mutating func append(_ field: FieldSlice) {
        lines.writeImmutableBuffer(field.line)
        lines.writeInteger(0 as UInt8)
    }

    /// Appends a field of other fields with another value: what stands before the value stays, byte for byte.
    package mutating func append(_ field: FieldSlice, value: ByteBuffer) {
        lines.writeBytes(field.line.readableBytesView.prefix(field.valueStart))
        lines.writeImmutableBuffer(value)
        lines.writeInteger(0 as UInt8)
    }

    /// Removes the fields for which `isRemoved` holds. The others keep their order.
    package mutating func removeAll(where isRemoved: (FieldSlice) -> Bool) {
        guard contains(where: isRemoved) else { return }
        var kept = RequestFields()
        kept.reserveCapacity(byteCount)
        for field in self where !isRemoved(field) { kept.append(field) }
        self = kept
    }

    // MARK: Sending

    /// Appends the fields as they stand in a message: with CRLF, and an empty value as `Name:`.
    package func write(into out: inout ByteBuffer) { writeLines(into: &out) { _ in true } }

    /// Appends the fields for which `isWanted` holds, in the same form. `isWanted` gets each line without its end.
    /// Allocates nothing but room in `out`.
    package func writeLines(into out: inout ByteBuffer, where isWanted: (UnsafeRawBufferPointer) -> Bool) {
        lines.withUnsafeReadableBytes { bytes in
            var start = 0
            while let line = Self.nextLine(in: bytes, from: &start) {
                if line.colon > 0, isWanted(line.bytes) { Self.write(line, into: &out) }
            }
        }
    }

    /// Appends the fields in the same form, with other fields between them.
    ///
    /// - Parameter before: Called before each field with the number of the field, and at the end with the number of fields.
    ///   It may write other fields.
    package func writeLines(
        into out: inout ByteBuffer, before: (_ number: Int, inout ByteBuffer) -> Void, where isWanted: (UnsafeRawBufferPointer) -> Bool
    ) {
        var number = 0
        lines.withUnsafeReadableBytes { bytes in
            var start = 0
            while let line = Self.nextLine(in: bytes, from: &start) {
                guard line.colon > 0, isWanted(line.bytes) else { continue }
                before(number, &out)
                number += 1
                Self.write(line, into: &out)
            }
        }
        before(number, &out)
    }

    /// `colon` is where the name ends. 0: the line has no name with a colon behind it. Such a line is no field and is never sent.
    private typealias Line = (bytes: UnsafeRawBufferPointer, colon: Int)

    @inline(__always)
    private static func nextLine(in bytes: UnsafeRawBufferPointer, from start: inout Int) -> Line? {
        guard start < bytes.count else { return nil }
        let end = ByteScan.first(0, in: bytes, start..<bytes.count) ?? bytes.count
        let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        start = end + 1
        return (line, ByteScan.first(ASCII.colon, in: line, 0..<line.count) ?? 0)
    }

    @inline(__always)
    private static func write(_ line: Line, into out: inout ByteBuffer) {
        let value = ByteScan.trimmed(line.colon + 1..<line.bytes.count, in: line.bytes)
        let count = value.isEmpty ? line.colon + 1 : line.bytes.count
        out.writeWithUnsafeMutableBytes(minimumWritableBytes: count + 2) { memory in
            memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: line.bytes[..<count]))
            memory[count] = ASCII.carriageReturn
            memory[count + 1] = ASCII.lineFeed
            return count + 2
        }
    }
}

extension RequestFields: Sequence {
    package func makeIterator() -> FieldLines { FieldLines(lines, end: .null) }
}

extension RequestFields: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral fields: (String, String)...) {
        self.init()
        for (name, value) in fields { append(name, value) }
    }
}

/// Without names and values: a buffer prints as its bytes.
extension RequestFields: CustomStringConvertible {
    package var description: String { "\(byteCount) bytes of fields" }
}
