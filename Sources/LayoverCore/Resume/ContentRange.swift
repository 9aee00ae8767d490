/// The value of a Content-Range of bytes (RFC 9110 section 14.4).
struct ContentRange: Hashable {
    let first: Int
    let last: Int
    /// The length of the whole body. Nil: the length is unknown.
    let total: Int?

    /// Nil: the value is invalid, of another unit, or unsatisfied.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last, last < .max else {
            return nil
        }
        var total: Int?
        if halves[1] != "*" {
            guard let number = Self.number(halves[1]), number > last else { return nil }
            total = number
        }
        self.first = first
        self.last = last
        self.total = total
    }

    /// Digits only, and no more than fit.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(text)
    }
}
