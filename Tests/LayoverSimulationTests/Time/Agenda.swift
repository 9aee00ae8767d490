/// Future events of the world around the proxy, in order of time.
struct Agenda {
    private struct Item {
        var at: Int64
        var number: Int
        var work: () -> Void
    }

    /// The last one comes first.
    private var items: [Item] = []
    private var count = 0

    var nextAt: Int64? { items.last?.at }
    var isEmpty: Bool { items.isEmpty }

    mutating func add(at: Int64, _ work: @escaping () -> Void) {
        count += 1
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].at > at { low = middle + 1 } else { high = middle }
        }
        items.insert(Item(at: at, number: count, work: work), at: low)
    }

    /// Takes the first thing that is due.
    mutating func takeDue(by now: Int64) -> (() -> Void)? {
        guard let last = items.last, last.at <= now else { return nil }
        return items.removeLast().work
    }

    mutating func clear() { items = [] }
}
