/// A binary heap: the smallest key comes first, and among equal ones whatever was pushed first.
///
/// A value may be stale when it is popped, so the code that pops it compares it with the entry. `removeAll` and `removeSome` drop
/// stale values before that.
struct PendingHeap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
    private struct Item {
        var key: Key
        var order: Int
        var value: Value

        static func < (lhs: Self, rhs: Self) -> Bool {
            lhs.key == rhs.key ? lhs.order < rhs.order : lhs.key < rhs.key
        }
    }

    private var items: [Item] = []
    private var pushCount = 0
    /// Items behind it have been looked at by `removeSome`.
    private var cursor = 0

    var first: (key: Key, value: Value)? { items.first.map { ($0.key, $0.value) } }
    var count: Int { items.count }

    mutating func push(_ value: Value, key: Key) {
        items.append(Item(key: key, order: pushCount, value: value))
        pushCount += 1
        siftUp(from: items.count - 1)
    }

    mutating func popFirst() -> (key: Key, value: Value)? {
        guard let first = items.first else { return nil }
        let last = items.removeLast()
        if !items.isEmpty {
            items[0] = last
            siftDown(from: 0)
        }
        return (first.key, first.value)
    }

    /// Takes out everything, in its order.
    mutating func popAll() -> [Value] {
        defer { items = [] }
        return items.sorted { $0 < $1 }.map(\.value)
    }

    /// Drops values, asked about in their order; the rest keeps it.
    mutating func removeAll(where isStale: (Key, Value) -> Bool) {
        // A sorted array is a heap.
        items = items.sorted { $0 < $1 }.filter { !isStale($0.key, $0.value) }
    }

    /// Looks at some values, in no order, and drops those that are stale; the next call goes on where this one ends. The rest keeps
    /// its order.
    ///
    /// To look at all of two million values takes 2.5 s.
    mutating func removeSome(_ count: Int, where isStale: (Key, Value) -> Bool) {
        for _ in 0..<min(count, items.count) {
            if cursor == 0 || cursor > items.count { cursor = items.count }
            cursor -= 1
            if isStale(items[cursor].key, items[cursor].value) { remove(at: cursor) }
        }
    }

    private mutating func remove(at index: Int) {
        let last = items.removeLast()
        guard index < items.count else { return }
        let comesBefore = last < items[index]
        items[index] = last
        if comesBefore { siftUp(from: index) } else { siftDown(from: index) }
    }

    private mutating func siftUp(from index: Int) {
        var child = index
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child] < items[parent] else { break }
            items.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(from index: Int) {
        var parent = index
        while 2 * parent + 1 < items.count {
            let left = 2 * parent + 1
            let right = left + 1
            let child = right < items.count && items[right] < items[left] ? right : left
            guard items[child] < items[parent] else { return }
            items.swapAt(child, parent)
            parent = child
        }
    }
}
