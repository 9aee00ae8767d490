/// Hides the keys of routes in texts: `/.layover/route/NAME/~KEY/…` becomes `/.layover/route/NAME/~***/…`.
///
/// Any first segment that begins with `~` or `%7E` counts as a key, whatever the name: a mistyped name is no route, and the key behind it
/// is real all the same.
package enum MaskedRouteKeys {
    private static let prefix = Array("/.layover/route/".utf8)
    private static let mask = Array(("~" + MaskedURL.mask).utf8)

    /// Whether there may be a key.
    static func mayBeIn(_ text: UnsafeBufferPointer<UInt8>) -> Bool { ASCIIScan.contains(prefix, in: text) }

    /// The text with each key replaced. In URLs of any form, a Referer, or a whole line.
    package static func text(_ text: String) -> String {
        var text = text
        guard text.withUTF8(mayBeIn) else { return text }
        return String(decoding: replacing(Array(text.utf8)) { mask }, as: UTF8.self)
    }

    /// The bytes without the segments of keys: `/.layover/route/NAME/…`. Nil: there is none.
    package static func withoutKeys(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
        let bytes = Array(bytes)
        guard bytes.withUnsafeBufferPointer(mayBeIn) else { return nil }
        let without = replacing(bytes) { nil }
        return without == bytes ? nil : without
    }

    /// - Parameter replacement: Of the segment; nil: it is removed with the slash before it.
    private static func replacing(_ bytes: [UInt8], by replacement: () -> [UInt8]?) -> [UInt8] {
        var out: [UInt8] = []
        var rest = bytes[...]
        while let found = rest.firstRange(of: prefix) {
            let name = rest[found.upperBound...].prefix { !isEnd($0) }
            out += rest[..<name.endIndex]
            rest = rest[name.endIndex...]
            guard rest.first == UInt8(ascii: "/"), isKey(rest.dropFirst()) else { continue }
            let segment = rest.dropFirst().prefix { !isEnd($0) }
            if let replacement = replacement() { out += [UInt8(ascii: "/")] + replacement }
            rest = rest[segment.endIndex...]
        }
        return out + rest
    }

    private static func isKey(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.first == UInt8(ascii: "~") || segment.starts(with: "%7E".utf8) || segment.starts(with: "%7e".utf8)
    }

    /// Whether the byte ends a segment of a path, or the URL in a text.
    private static func isEnd(_ byte: UInt8) -> Bool { byte <= 0x20 || "/?#&\"'<>".utf8.contains(byte) }
}
