package import LayoverCore
import LayoverText

/// A page of a list: what was in memory as it stood, and by their ids the final tickets that only the store has.
package struct EntryListing: Sendable {
    package enum Item: Sendable {
        case known(Entry)
        case stored(EntryID)
    }

    package var items: [Item]
    /// Nil: there is no more.
    package var nextCursor: EntryCursor?
}

extension EntryListing {
    /// - Parameters:
    ///   - page: What is in memory.
    ///   - stored: What the store has, in the order of the query, and one more than a page if there are more.
    init(_ query: PendingQuery, _ page: PendingPage, stored: [ListedPlace], naming: EntryNaming) {
        let known = Dictionary(page.entries.map { ($0.id, $0) }) { first, _ in first }
        let places = page.entries.map { ListedPlace(id: $0.id, place: query.sort.place(of: $0, naming)) }
        let (shown, nextCursor) = query.cut(query.merge(places, stored))
        items = shown.map { place in known[place.id].map(Item.known) ?? .stored(place.id) }
        // Where the store adds nothing behind a full page, memory knows whether there is more.
        self.nextCursor = nextCursor ?? page.nextCursor
    }
}

/// The beginning of an id: 1 to 31 hexadecimal digits.
package struct EntryIDPrefix: Sendable, Hashable, CustomStringConvertible {
    package let description: String
    private let high: UInt64
    private let highMask: UInt64
    private let low: UInt64
    private let lowMask: UInt64

    /// Reads digits of lower case; nil for any other text, and for a complete id.
    package init?(_ text: String) {
        guard (1..<32).contains(text.utf8.count), text.utf8.allSatisfy(Hexadecimal.isLowercaseDigit) else { return nil }
        description = text
        let padded = text + String(repeating: "0", count: 32 - text.utf8.count)
        guard let id = EntryID(padded) else { return nil }
        (high, low) = (id.high, id.low)
        // A shift by the whole width gives 0.
        let bitCount = text.utf8.count * 4
        highMask = .max << UInt64(max(0, 64 - bitCount))
        lowMask = .max << UInt64(64 - max(0, bitCount - 64))
    }

    package func begins(_ id: EntryID) -> Bool { id.high & highMask == high && id.low & lowMask == low }
}
