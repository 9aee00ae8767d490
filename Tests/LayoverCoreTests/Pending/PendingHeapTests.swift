import LayoverTestSupport
import Testing

@testable import LayoverCore

struct PendingHeapTests {
    @Test func heapKeepsTheOrderOfEqualKeys() {
        var heap = PendingHeap<Int, Int>()
        for value in 0..<100 { heap.push(value, key: value % 3) }
        heap.removeAll { $1 % 7 == 0 }
        var out: [Int] = []
        while let (_, value) = heap.popFirst() { out.append(value) }
        let kept = (0..<100).filter { $0 % 7 != 0 }
        #expect(out == (0..<3).flatMap { key in kept.filter { $0 % 3 == key } })
    }

    @Test(arguments: 1...20)
    func removingAFewAtATimeKeepsTheOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = PendingHeap<Int, Int>()
        for value in 0..<1000 { heap.push(value, key: Int.random(in: 0..<50, using: &generator)) }
        var all = heap
        all.removeAll { $1.isMultiple(of: 3) }
        var (looks, calls) = (0, 0)
        // A value that a removal moves to a place behind may be passed over once.
        while heap.count > all.count, calls < 1000 {
            heap.removeSome(7) { _, value in
                looks += 1
                return value.isMultiple(of: 3)
            }
            calls += 1
            #expect(looks <= 7 * calls)
        }
        #expect(looks < 3 * 1000, "\(looks) looks for 1 000 values")
        var (one, other): ([Int], [Int]) = ([], [])
        while let (_, value) = heap.popFirst() { one.append(value) }
        while let (_, value) = all.popFirst() { other.append(value) }
        #expect(one == other)
        heap.removeSome(7) { _, _ in true }
        #expect(heap.count == 0)
    }

    @Test(arguments: 1...20)
    func heapReturnsItsElementsInOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = PendingHeap<Int, Int>()
        var expected: [Int] = []
        for _ in 0..<500 {
            if Int.random(in: 0..<3, using: &generator) < 2 {
                let key = Int.random(in: 0..<100, using: &generator)
                heap.push(key, key: key)
                expected.append(key)
            } else {
                expected.sort()
                let least = expected.isEmpty ? nil : expected.removeFirst()
                #expect(heap.first?.key == least)
                #expect(heap.popFirst()?.value == least)
            }
            if Int.random(in: 0..<50, using: &generator) == 0 {
                heap.removeAll { $1 % 3 == 0 }
                expected.removeAll { $0 % 3 == 0 }
            }
            #expect(heap.count == expected.count)
        }
    }
}
