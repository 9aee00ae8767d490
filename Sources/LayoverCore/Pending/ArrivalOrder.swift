/// The ids of entries by their sequence, so that a page of the list costs no more than its length.
///
/// Ids of entries that have left are skipped. They are removed when there are too many of them.
struct ArrivalOrder: Sendable {
    struct Item: Sendable {
        var sequence: Int
        var id: EntryID
    }

    private var items: [Item] = []
    private var isSorted = true

    /// Most come in their order; the others are sorted when the order is read.
    mutating func append(_ id: EntryID, _ sequence: Int) {
        if let last = items.last, last.sequence > sequence { isSorted = false }
        items.append(Item(sequence: sequence, id: id))
    }

    /// Throws out who has left once they are more than those that have not.
    mutating func tidy(liveCount: Int, isLive: (Item) -> Bool) {
        guard items.count > 1000 + 2 * liveCount else { return }
        items.removeAll { !isLive($0) }
    }

    /// All of them, in their order.
    mutating func sorted() -> [Item] {
        if !isSorted {
            items.sort { $0.sequence < $1.sequence }
            isSorted = true
        }
        return items
    }

    /// The first place behind a sequence, among items that are sorted.
    static func index(behind sequence: Int, in items: [Item]) -> Int {
        firstIndex(in: items) { $0 > sequence }
    }

    /// The first place of a sequence or behind it, among items that are sorted.
    static func index(notBefore sequence: Int, in items: [Item]) -> Int {
        firstIndex(in: items) { $0 >= sequence }
    }

    /// - Parameter isFound: False up to some sequence, and true from there on.
    private static func firstIndex(in items: [Item], where isFound: (Int) -> Bool) -> Int {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if isFound(items[middle].sequence) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
