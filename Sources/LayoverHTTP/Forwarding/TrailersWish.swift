import NIOCore

/// `TE: trailers`, by which a client says that trailers reach it (RFC 9110 section 10.1.4).
///
/// TE concerns one connection only. Trailers of a response go on to the client, so its wish is ours, and it is
/// written anew: the transfer codings that TE may list as well end here, and `Connection` names the field.
package enum TrailersWish {
    /// Appends the two fields, if the client has the wish.
    ///
    /// A client of HTTP/1.0 gets no chunks, and so no trailers.
    static func write(of head: RequestHead, into out: inout RequestFields, removedNames: [[UInt8]]) {
        guard head.fields.contains(.te), head.version != .http10, isStated(in: head.fields) else { return }
        guard !removedNames.contains(where: { $0.map(ByteClass.lowercased) == Array("te".utf8) }) else { return }
        for (name, value) in fields { out.append(name, value) }
    }

    private static let fields = [("TE", "trailers"), ("Connection", "TE")]

    /// Whether `trailers` is a member; it has no weight.
    private static func isStated(in fields: FieldBlock) -> Bool {
        fields.bytes.withUnsafeReadableBytes { bytes in
            fields.values(.te).contains { value in
                ListMembers(value, in: bytes).contains { ByteText.equalsIgnoringCase("trailers", in: bytes, $0) }
            }
        }
    }

    /// The fields of `writeForwardedFields` without the wish, for a response whose trailers reach nobody.
    package static func removed(from forwarded: RequestFields) -> RequestFields {
        var kept = forwarded
        kept.removeAll { field in
            fields.contains { name, value in field.line.readableBytesView.elementsEqual("\(name): \(value)".utf8) }
        }
        return kept
    }
}
