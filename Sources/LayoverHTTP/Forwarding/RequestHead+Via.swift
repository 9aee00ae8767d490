import NIOCore

// RFC 9110 section 7.6.3.

extension RequestHead {
    /// Appends one field `Via: <members as received>, <own>`.
    ///
    /// - Parameter own: The pseudonym of our member: `layover-0a1b2c3d`.
    package func writeVia(into out: inout RequestFields, own: [UInt8]) {
        out.lines.writeStaticString("Via: ")
        if fields.contains(.via) {
            bytes.withUnsafeReadableBytes { bytes in
                for field in fields.ranges where field.known == .via && !field.value.isEmpty {
                    out.lines.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[field.value]))
                    out.lines.writeStaticString(", ")
                }
            }
        }
        out.lines.writeStaticString(version.viaVersion)
        out.lines.writeStaticString(" ")
        out.lines.writeBytes(own)
        out.lines.writeInteger(0 as UInt8)
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
