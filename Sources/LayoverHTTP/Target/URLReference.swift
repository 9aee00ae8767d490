import LayoverText

/// A URL, or one that is relative to another, in its five parts (RFC 3986 section 3). Nothing is decoded or repaired.
package struct URLReference: Sendable, Hashable {
    /// In lower case.
    package var scheme: String?
    package var authority: String?
    package var path: [UInt8]
    /// Without its question mark.
    package var query: [UInt8]?
    /// Without its hash sign.
    package var fragment: [UInt8]?

    /// Takes the text apart as appendix B does. Every text is some reference.
    package init(_ text: [UInt8]) {
        var rest = text[...]
        fragment = Self.cut(&rest, from: UInt8(ascii: "#"))
        query = Self.cut(&rest, from: UInt8(ascii: "?"))
        let word = rest.prefix { PercentCoding.isAlphanumeric($0) || "+-.".utf8.contains($0) }
        if let first = word.first, !(48...57).contains(first), PercentCoding.isAlphanumeric(first),
            word.endIndex < rest.endIndex, rest[word.endIndex] == UInt8(ascii: ":")
        {
            scheme = String(decoding: word, as: UTF8.self).lowercased()
            rest = rest[(word.endIndex + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let name = rest.prefix { $0 != UInt8(ascii: "/") }
            authority = String(decoding: name, as: UTF8.self)
            rest = rest[name.endIndex...]
        }
        path = Array(rest)
    }

    private static func cut(_ rest: inout ArraySlice<UInt8>, from mark: UInt8) -> [UInt8]? {
        guard let index = rest.firstIndex(of: mark) else { return nil }
        defer { rest = rest[..<index] }
        return Array(rest[(index + 1)...])
    }

    /// The target of the reference when it stands in the resource at `base` (RFC 3986 section 5.2.2).
    package func resolved(against base: URLReference) -> URLReference {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil {
                target.authority = base.authority
                if path.isEmpty {
                    target.path = base.path
                    target.query = query ?? base.query
                    return target
                }
                if path.first != UInt8(ascii: "/") { target.path = base.merged(with: path) }
            }
        }
        target.path = Self.withoutDotSegments(target.path)
        return target
    }

    /// Section 5.2.3.
    private func merged(with relative: [UInt8]) -> [UInt8] {
        if authority != nil, path.isEmpty { return [UInt8(ascii: "/")] + relative }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return Array(path[...slash]) + relative
    }

    /// Section 5.2.4, for paths that begin with a slash; others are left alone.
    private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
        guard path.first == UInt8(ascii: "/") else { return path }
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isUp = segment.elementsEqual("..".utf8)
            guard isUp || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            if isUp { _ = kept.popLast() }
            if index == segments.count - 1 { kept.append([]) }
        }
        return kept.flatMap { [UInt8(ascii: "/")] + $0 }
    }

    /// Section 5.3.
    package var text: [UInt8] {
        var text: [UInt8] = []
        if let scheme { text += Array("\(scheme):".utf8) }
        if let authority { text += Array("//\(authority)".utf8) }
        text += path
        if let query { text += [UInt8(ascii: "?")] + query }
        if let fragment { text += [UInt8(ascii: "#")] + fragment }
        return text
    }

    /// Scheme, host and port as they are compared (RFC 9110 section 4.3.1); nil if the reference is no URL that we send to.
    package var origin: [String]? {
        guard let scheme, scheme == "http" || scheme == "https", let authority,
            let parsed = Authority(parsing: authority)
        else { return nil }
        return [scheme, parsed.host, String(parsed.port ?? (scheme == "http" ? 80 : 443))]
    }
}
