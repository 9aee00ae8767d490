package import NIOCore

// RFC 9110 section 7.6.3.

extension RequestHead {
    /// Appends one line `Via: <members as received>, <own>` with a NUL behind it.
    ///
    /// - Parameter own: Our member, protocol version included: `1.1 layover-0a1b2c3d`.
    package func writeVia(into out: inout ByteBuffer, own: [UInt8]) {
        out.writeStaticString("Via: ")
        if fields.contains(.via) {
            bytes.withUnsafeReadableBytes { bytes in
                for field in fields.ranges where field.known == .via && !field.value.isEmpty {
                    out.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[field.value]))
                    out.writeStaticString(", ")
                }
            }
        }
        out.writeBytes(own)
        out.writeInteger(0 as UInt8)
    }

    /// Whether a member of a Via field was received by exactly `token`: the request went through us
    /// before. Comments are no place to look for it.
    package func hasViaToken(_ token: [UInt8]) -> Bool {
        guard fields.contains(.via) else { return false }
        return bytes.withUnsafeReadableBytes { bytes in
            fields.ranges.contains { field in
                field.known == .via
                    && ViaMembers(field.value, in: bytes).contains { receivedBy in
                        receivedBy.count == token.count && bytes[receivedBy].elementsEqual(token)
                    }
            }
        }
    }
}
