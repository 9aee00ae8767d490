/// A response whose body broke off and goes on where it broke, by further requests for the rest of it.
///
/// RFC 9110 sections 13.1.5 (If-Range), 14 (Range) and 15.3.7 (206). Whatever is doubtful is refused: the recipient is cut off then, and
/// never gets a byte of another representation.
package struct ResumableResponse: Sendable, Hashable {
    /// What proves that a later response is of the same representation.
    package enum Validator: Sendable, Hashable {
        /// A strong entity tag, quotes included.
        case entityTag(String)
        /// A Last-Modified that counts as strong, as it came.
        case date(String)

        /// The value of If-Range.
        package var text: String {
            switch self {
            case .entityTag(let text), .date(let text): text
            }
        }
    }

    /// Bytes of progress after which attempts and delay start over. Not one byte: an origin that breaks off after each would be asked
    /// without end. Default: 64 KiB.
    package static let progressMin = 64 << 10

    /// Bytes of the whole body.
    package let total: Int
    package let validator: Validator
    /// The Content-Encoding of the first response, in lower case; empty: none.
    private let contentEncoding: String
    /// Bytes of the body that the recipient has.
    package private(set) var done: Int
    /// How often it went on.
    package private(set) var times = 0
    /// Of the continuation under way: bytes to come that the recipient has already.
    private var skipCount = 0
    /// Of the continuation under way: bytes to come behind those.
    private var spanCount = 0

    /// - Parameters:
    ///   - head: The first response.
    ///   - request: The request that it answers.
    ///   - done: Bytes of its body that the recipient got.
    /// - Returns: Nil if the response cannot go on.
    package init?(_ head: ResumeFacts, to request: ResumableRequest, done: Int) {
        guard request.method == "GET", request.purpose == .transfer, !request.hasRange, !request.mayGoElsewhere else { return nil }
        guard head.status == 200, let total = head.contentLength, total > 0, (0...total).contains(done) else { return nil }
        if head.acceptRanges?.lowercased() == "none" { return nil }
        if head.contentType?.lowercased().hasPrefix("multipart/") == true { return nil }
        guard let validator = Self.validator(of: head) else { return nil }
        self.total = total
        self.validator = validator
        contentEncoding = (head.contentEncoding ?? "").lowercased()
        self.done = done
    }

    /// A date counts only where there is no tag at all, and where it is at least a second older than the response: what changes twice
    /// within a second has the same one (RFC 9110 sections 8.8.2.2 and 13.1.5).
    private static func validator(of head: ResumeFacts) -> Validator? {
        // mutant: weak-tag
        if let tag = head.entityTag { return isStrong(tag) ? .entityTag(tag) : nil }
        guard let date = head.lastModified, let modified = head.lastModifiedSeconds, let sent = head.dateSeconds, modified < sent
        else { return nil }
        return .date(date)
    }

    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") && !tag.dropFirst().dropLast().contains("\"")
    }

    package var isComplete: Bool { done == total }

    /// The value of Range.
    package var range: String { "bytes=\(done)-" }

    // MARK: A continuation

    /// Judges the response to the request for the rest.
    package mutating func judge(_ head: ResumeFacts) -> ContinuationVerdict {
        switch head.status {
        case 206: break
        case 408, 425, 429, 500...599: return .askAgain
        case 200: return .refuse(.changed)
        default: return .refuse(.status(head.status))
        }
        if head.contentType?.lowercased().hasPrefix("multipart/") == true { return .refuse(.multipart) }
        // mutant: rest-of-another
        guard isSame(head) else { return .refuse(.changed) }
        // mutant: rest-encoded
        if let encoding = head.contentEncoding, encoding.lowercased() != contentEncoding { return .refuse(.encoding) }
        guard head.contentRangeCount == 1, let range = head.contentRange.flatMap(ContentRange.init) else { return .refuse(.range) }
        guard range.total == nil || range.total == total, range.last < total else { return .refuse(.changed) }
        // mutant: rest-from-elsewhere, rest-too-exact
        guard range.first <= done, range.last >= done else { return .refuse(.range) }
        if let length = head.contentLength, length != range.last - range.first + 1 { return .refuse(.length) }
        // mutant: rest-repeated, rest-from-elsewhere.2
        skipCount = done - range.first
        spanCount = range.last + 1 - done
        times += 1
        return .goOn
    }

    /// Whether the response carries the validator of the first one. A tag must be repeated (RFC 9110 section 15.3.7); Last-Modified may be
    /// missing, and a tag where there was none speaks of another origin.
    private func isSame(_ head: ResumeFacts) -> Bool {
        switch validator {
        case .entityTag(let tag): head.entityTag == tag
        case .date(let date): head.entityTag == nil && (head.lastModified == nil || head.lastModified == date)
        }
    }

    /// Takes bytes of the continuation.
    ///
    /// - Returns: How many of them, from the first on, are not for the recipient. Nil: more bytes came than were announced.
    package mutating func came(_ count: Int) -> Int? {
        let skipped = min(count, skipCount)
        skipCount -= skipped
        // mutant: rest-without-end
        guard count - skipped <= spanCount else { return nil }
        spanCount -= count - skipped
        done += count - skipped
        return skipped
    }

    /// How far it is, for people and programs.
    package var progress: ResumeProgress { ResumeProgress(done: done, total: total, times: times) }
}

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
