/// What resuming needs to know of the head of a response. Values as they came, without the white space around them.
package struct ResumeFacts: Sendable, Hashable {
    package var status: Int
    /// Nil: it was not announced.
    package var contentLength: Int?
    package var entityTag: String?
    package var lastModified: String?
    /// Seconds since 1970 (RFC 9110 section 5.6.7); nil: there is none that can be read.
    package var lastModifiedSeconds: Int?
    /// The time of the response, likewise.
    package var dateSeconds: Int?
    package var acceptRanges: String?
    package var contentType: String?
    package var contentEncoding: String?
    package var contentRange: String?
    /// How many Content-Range fields there are.
    package var contentRangeCount = 0
    /// How long it asks to wait.
    package var retryAfter: Duration?

    package init(status: Int, contentLength: Int? = nil) {
        self.status = status
        self.contentLength = contentLength
    }
}

/// The value of a Content-Range of bytes (RFC 9110 section 14.4).
struct ContentRange: Hashable {
    let first: Int
    let last: Int
    /// Nil: unknown.
    let total: Int?

    /// Nil: invalid, of another unit, or unsatisfied.
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
