package import NIOCore

// Texts and other values that are made on demand.

extension RequestHead {
    /// The authority of the target. Nil for the origin form and for `*`.
    package var targetAuthority: Authority? {
        guard let authority = line.target.authority else { return nil }
        return bytes.withUnsafeReadableBytes { authority.authority(in: $0) }
    }

    /// The authority of the Host field. When the target has one too, that one decides (RFC 9112
    /// section 3.2.2).
    package var hostAuthority: Authority? {
        guard let host else { return nil }
        return bytes.withUnsafeReadableBytes { host.authority(in: $0) }
    }

    /// The method as it came.
    package var methodString: String { fields.string(methodRange) }

    /// The target as it came, without userinfo. ASCII without white space and control characters.
    package var targetString: String {
        guard let userinfo = userinfoRange else { return fields.string(targetRange) }
        return fields.string(targetRange.lowerBound..<userinfo.lowerBound) + fields.string(userinfo.upperBound..<targetRange.upperBound)
    }

    /// Name and password in an absolute target, with their `@`. They are never sent, shown or stored.
    private var userinfoRange: Range<Int>? {
        guard case .absolute(let scheme, _) = line.target.form, let authority = authorityRange else { return nil }
        let start = targetRange.lowerBound + scheme.name.utf8.count + "://".utf8.count
        return start < authority.lowerBound ? start..<authority.lowerBound : nil
    }

    /// Whether the bytes of the range equal `other` exactly.
    package func equals(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
        guard range.count == other.count else { return false }
        return bytes.withUnsafeReadableBytes { $0[range].elementsEqual(other) }
    }

    /// Appends the target for the upstream in origin form: the path and query as they came, with
    /// the `/` that an absolute target may lack. `*` for OPTIONS without a path (RFC 9112 section
    /// 3.2.4). The authority form has none; nothing is appended.
    package func writeOriginForm(into out: inout ByteBuffer) {
        switch target {
        case .asterisk:
            out.writeInteger(ASCII.asterisk)
        case .origin:
            bytes.withUnsafeReadableBytes { bytes in
                _ = out.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[targetRange]))
            }
        case .absolute(_, let pathRange):
            if pathRange.isEmpty {
                out.writeInteger(method == .options ? ASCII.asterisk : ASCII.slash)
                return
            }
            bytes.withUnsafeReadableBytes { bytes in
                if bytes[pathRange.lowerBound] == ASCII.question { out.writeInteger(ASCII.slash) }
                out.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[pathRange]))
            }
        case .authority:
            break
        }
    }
}
