package import NIOCore

extension FieldBlock {
    /// Appends all fields as lines `Name: value` (`Name;` for an empty value), each with a NUL
    /// behind it. For trailers, whose forbidden fields the decoder has left out already.
    package func writeForwardedTrailers(into out: inout ByteBuffer) {
        _ = bytes.withUnsafeReadableBytes { bytes in
            // See `RequestHead.writeForwardedFields`: no line grows.
            out.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes.count) { memory in
                var writer = FieldLineWriter(memory)
                for field in ranges { writer.writeField(field, of: bytes) }
                return writer.byteCount
            }
        }
    }
}
