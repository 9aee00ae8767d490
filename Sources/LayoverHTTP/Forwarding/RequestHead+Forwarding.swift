import NIOCore

extension RequestHead {
    /// Appends the fields to forward: bytes, order and duplicates as they came.
    ///
    /// Left out are: hop-by-hop fields and those that `Connection` nominates (RFC 9110 section
    /// 7.6.1); `Host`, `Content-Length` and `Expect`, which belong to the sender of the next
    /// message; `Layover-*`; and `Via`, see `writeVia(into:own:)`. `Max-Forwards` of OPTIONS and
    /// TRACE is written one less. Of `TE` only the wish for trailers goes on (`TrailersWish`).
    ///
    /// - Returns: Where the fields stood that belong to the sender of the next message.
    @discardableResult
    package func writeForwardedFields(
        into out: inout RequestFields, options: ForwardingOptions = .init()
    ) -> FieldPlaces {
        let nominated = nominatedNames
        var places = FieldPlaces()
        var count = 0
        _ = bytes.withUnsafeReadableBytes { bytes in
            // A line that came as `name:value CRLF` leaves as `name: value NUL` or shorter, so the
            // lines never need more than the head did.
            out.lines.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes.count) { memory in
                var writer = FieldLineWriter(memory)
                for field in fields.ranges {
                    if drops(field.known, options) || nominated.contains(field, in: bytes) {
                        places.note(field.known, at: count)
                        continue
                    }
                    if !options.removedNames.isEmpty,
                        options.removedNames.contains(where: {
                            ByteText.equalsIgnoringCase($0, in: bytes, field.name)
                        })
                    {
                        continue
                    }
                    writer.writeField(field, of: bytes)
                    count += 1
                }
                return writer.byteCount
            }
        }
        writeMaxForwards(into: &out)
        TrailersWish.write(of: self, into: &out, removedNames: options.removedNames)
        if options.keepsUpgrade, upgradeRequested { out.append("Connection", "Upgrade") }
        return places
    }

    private func drops(_ known: KnownField, _ options: ForwardingOptions) -> Bool {
        if known == .other { return false }
        if known == .upgrade { return !(options.keepsUpgrade && upgradeRequested) }
        if known == .prefer { return !options.keepsPrefer }
        if known == .maxForwards { return maxForwards != nil }
        if known == .expect { return !passesExpectOn }
        return Self.neverForwarded.contains(known)
    }

    private static let neverForwarded = KnownField.hopByHop.union(
        KnownFieldSet(.host, .contentLength, .expect, .layover, .via))

    /// RFC 9110 section 7.6.2. A request with 0 is not forwarded at all; should it be, 0 stays 0.
    private func writeMaxForwards(into out: inout RequestFields) {
        guard let maxForwards else { return }
        out.append("Max-Forwards", String(max(maxForwards - 1, 0)))
    }

    private var nominatedNames: NominatedNames {
        var names = NominatedNames()
        guard nominatesFields else { return names }
        bytes.withUnsafeReadableBytes { bytes in
            for field in fields.ranges where field.known == .connection {
                names.read(field.value, in: bytes)
            }
        }
        return names
    }
}
