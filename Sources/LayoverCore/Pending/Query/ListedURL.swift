/// A URL in a list: it is sorted by what is shown of it.
///
/// To hide its secrets takes longer than all else. Most need not be hidden to be compared: what stands before the queries tells.
package struct ListedURL: Sendable, Hashable {
    private let url: String
    /// How many bytes stand before the query, if they are ASCII and nothing of them is hidden.
    private let plainHeadCount: Int?

    init(_ url: String) {
        self.url = url
        var url = url
        plainHeadCount = url.withUTF8 { bytes in
            ASCIIScan.plainHeadCount(bytes) ?? (MaskedURL.hasPlainHead(bytes) ? ASCIIScan.headCount(bytes) : nil)
        }
    }

    var shown: String { MaskedURL.text(url) }

    /// Negative, 0 or positive.
    func compare(_ other: Self) -> Int {
        if let count = plainHeadCount, let otherCount = other.plainHeadCount {
            var (url, otherURL) = (url, other.url)
            let order = url.withUTF8 { one in
                otherURL.withUTF8 { other in
                    ASCIIScan.compare(
                        UnsafeBufferPointer(rebasing: one[..<count]), UnsafeBufferPointer(rebasing: other[..<otherCount]))
                }
            }
            if order != 0 { return order }
        }
        return URLOrder.compare(shown, other.shown)
    }
}

extension ASCIIScan {
    /// How many bytes stand before the query.
    ///
    /// - Returns: Nil: some are not ASCII.
    static func headCount(_ url: UnsafeBufferPointer<UInt8>) -> Int? {
        let head = UnsafeBufferPointer(rebasing: url[..<(url.firstIndex(of: UInt8(ascii: "?")) ?? url.count)])
        return isASCII(head) ? head.count : nil
    }

    /// The same in one pass for the most of all URLs: for those without anything that may have to be hidden.
    static func plainHeadCount(_ url: UnsafeBufferPointer<UInt8>) -> Int? {
        var index = 0
        while index < url.count {
            let byte = url[index]
            if byte == UInt8(ascii: "?") { break }
            guard byte < 0x80, byte != UInt8(ascii: "%"), byte != UInt8(ascii: "@") else { return nil }
            // `ticket.` may be before the id of one.
            if byte == UInt8(ascii: "."), index > 0, url[index - 1] == UInt8(ascii: "t") { return nil }
            // `/.layover/route/` may be before the key of one.
            if byte == UInt8(ascii: "."), index > 0, url[index - 1] == UInt8(ascii: "/") { return nil }
            index += 1
        }
        return index
    }
}
