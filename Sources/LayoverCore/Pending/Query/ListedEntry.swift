/// What a list asks of an entry: of one in memory, or of a final ticket that only the store has.
package protocol ListedEntry {
    var id: EntryID { get }
    var state: EntryState { get }
    var method: String { get }
    var url: String { get }
    var origin: Origin { get }
    var route: String? { get }
    /// The name of the policy in force.
    var policyName: String { get }
    var priority: Int { get }
    var lane: String? { get }
    var attemptCount: Int { get }
    var requestByteCount: Int { get }
    var createdAt: Timestamp { get }
    var parkedAt: Timestamp { get }
    var expiresAt: Timestamp { get }
    var endedAt: Timestamp? { get }
    /// When it goes by itself; nil: never.
    var nextAttemptAt: Timestamp? { get }
    /// The outage or decision it is a member of.
    var openIncident: IncidentID? { get }
    var isTicket: Bool { get }
    /// Order of arrival.
    var sequence: Int { get }

    /// Whether host, path, id or error have what is searched.
    func isFound(by search: EntrySearch) -> Bool
}

extension ListedEntry {
    /// The name of its lane for lists: a lane by path holds a token of a target, whose ticket id must not be shown. Two lanes
    /// may be shown by one name.
    package var shownLane: String? { lane.map(MaskedTicketIDs.target) }
}

extension TicketRecord: ListedEntry {
    package var policyName: String { policy }
    package var isTicket: Bool { true }
    package var openIncident: IncidentID? { nil }
    package var nextAttemptAt: Timestamp? { nil }
    package func isFound(by search: EntrySearch) -> Bool { search.finds(self) }
}

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
