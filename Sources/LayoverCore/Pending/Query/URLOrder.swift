/// The order of URLs in a list: by what stands before the query, then by the query.
enum URLOrder {
    /// Negative, 0 or positive.
    static func compare(_ left: String, _ right: String) -> Int {
        let order = compareHeads(left, right)
        return order == 0 ? TextOrder.compare(left, right) : order
    }

    /// The same by what stands before the query alone.
    static func compareHeads(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        let result = left.withUTF8 { left in
            right.withUTF8 { right -> Int? in
                let (left, right) = (head(left), head(right))
                return ASCIIScan.isASCII(left) && ASCIIScan.isASCII(right) ? ASCIIScan.compare(left, right) : nil
            }
        }
        return result ?? TextOrder.compare(String(left.prefix { $0 != "?" }), String(right.prefix { $0 != "?" }))
    }

    private static func head(_ url: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: url[..<(url.firstIndex(of: UInt8(ascii: "?")) ?? url.count)])
    }
}
