/// The targets of a `Link` field (RFC 8288 section 3): `<target>; rel="next", <target>`.
enum LinkTargets {
    /// The value with its targets replaced, all else byte for byte. From the first part that is no link, the rest stays.
    ///
    /// - Parameter replacement: Another target; nil: the target stays.
    static func replaced(in value: [UInt8], by replacement: ([UInt8]) -> [UInt8]?) -> [UInt8] {
        var out: [UInt8] = []
        var rest = value[...]
        while true {
            let gap = rest.prefix { $0 == UInt8(ascii: ",") || FieldSpace.contains($0) }
            out += gap
            rest = rest[gap.endIndex...]
            guard rest.first == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return out + rest }
            let target = rest[(rest.startIndex + 1)..<end]
            out.append(UInt8(ascii: "<"))
            out += replacement(Array(target.withoutOuterSpace)) ?? Array(target)
            rest = rest[end...]
            let tail = endOfMember(rest)
            out += rest[..<tail]
            rest = rest[tail...]
        }
    }

    /// Where the comma stands that ends the member: one in a quoted string does not.
    private static func endOfMember(_ rest: ArraySlice<UInt8>) -> Int {
        var isQuoted = false
        var index = rest.startIndex
        while index < rest.endIndex {
            switch rest[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted: index += 1
            case UInt8(ascii: ",") where !isQuoted: return index
            default: break
            }
            index += 1
        }
        return rest.endIndex
    }
}

/// The target of a `Refresh` field, which browsers follow: `5; url=target` (HTML, "shared declarative refresh steps").
enum RefreshTarget {
    /// The value with another target. One without a target, or in another form, stays.
    static func replaced(in value: [UInt8], by replacement: ([UInt8]) -> [UInt8]?) -> [UInt8] {
        let text = String(decoding: value, as: UTF8.self)
        guard let found = text.firstMatch(of: /^[0-9.]+[ \t]*[;,][ \t]*(?:[uU][rR][lL][ \t]*=[ \t]*)?(["']?)/) else { return value }
        let start = text.utf8.distance(from: text.startIndex, to: found.range.upperBound)
        guard value.count >= start, Array(text.utf8) == value else { return value }
        var target = value[start...]
        if let quote = found.output.1.utf8.first { target = target.prefix { $0 != quote } }
        guard let new = replacement(Array(target)) else { return value }
        return value[..<start] + new + value[target.endIndex...]
    }
}

/// White space in field values (RFC 9110 section 5.6.3).
enum FieldSpace {
    static func contains(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
    var withoutOuterSpace: ArraySlice<UInt8> {
        var text = self.drop(while: FieldSpace.contains)
        while let last = text.last, FieldSpace.contains(last) { text.removeLast() }
        return text
    }
}
