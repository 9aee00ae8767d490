package import NIOCore

/// `TE: trailers`, by which a client says that trailers reach it (RFC 9110 section 10.1.4).
///
/// TE concerns one connection only. Trailers of an answer go on to the client, so its wish is ours, and it is
/// written anew: the transfer codings that TE may list as well end here, and `Connection` names the field.
package enum TrailersWish {
    /// Appends the two lines, each with a NUL behind it, if the client has the wish.
    ///
    /// A client of HTTP/1.0 gets no chunks, and so no trailers.
    static func write(of head: RequestHead, into out: inout ByteBuffer, removedNames: [[UInt8]]) {
        guard head.fields.contains(.te), head.minorVersion == 1, isStated(in: head.fields) else { return }
        guard !removedNames.contains(where: { $0.map(ByteClass.lowercased) == Array("te".utf8) }) else { return }
        for line in lines { out.writeString(line + "\0") }
    }

    private static let lines = ["TE: trailers", "Connection: TE"]

    /// Whether `trailers` is a member; it has no weight.
    private static func isStated(in fields: FieldBlock) -> Bool {
        fields.bytes.withUnsafeReadableBytes { bytes in
            fields.values(.te).contains { value in
                ListMembers(value, in: bytes).contains { ByteText.equalsIgnoringCase("trailers", in: bytes, $0) }
            }
        }
    }

    /// The lines of `writeForwardedFields` without the wish, for an answer whose trailers reach nobody.
    package static func removed(from fields: ByteBuffer) -> ByteBuffer {
        var kept = ByteBuffer()
        kept.reserveCapacity(fields.readableBytes)
        for line in fields.readableBytesView.split(separator: 0)
        where !lines.contains(where: { line.elementsEqual($0.utf8) }) {
            kept.writeBytes(line)
            kept.writeInteger(0 as UInt8)
        }
        return kept
    }
}
