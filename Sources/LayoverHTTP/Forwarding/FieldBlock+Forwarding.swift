import NIOCore

extension FieldBlock {
    /// All fields as they are forwarded; nil when there are none. For trailers, whose forbidden fields the decoder has
    /// left out already.
    package var forwardedTrailers: RequestFields? {
        guard !isEmpty else { return nil }
        var out = RequestFields()
        _ = bytes.withUnsafeReadableBytes { bytes in
            // See `RequestHead.writeForwardedFields`: no line grows.
            out.lines.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes.count) { memory in
                var writer = FieldLineWriter(memory)
                for field in ranges { writer.writeField(field, of: bytes) }
                return writer.byteCount
            }
        }
        return out
    }
}
