/// Work that waits for one of a few places, in turns among the addresses that it comes from.
///
/// An address with many pieces of work delays its own ones, and each other address by one piece at most for each place.
struct CheckQueue<Work> {
    /// Pieces of work that wait for one address. Default: 16.
    static var countPerAddressMax: Int { 16 }
    /// Pieces of work that wait in all. Default: 256.
    static var countMax: Int { 256 }

    private var waiting: [String: [Work]] = [:]
    /// Addresses with waiting work, in the order of their turns.
    private var turns: [String] = []
    private var running: [String: Int] = [:]
    private(set) var count = 0

    /// - Returns: False: there is no room.
    mutating func add(_ work: Work, from address: String) -> Bool {
        guard count < Self.countMax, waiting[address]?.count ?? 0 < Self.countPerAddressMax else { return false }
        if waiting[address] == nil { turns.append(address) }
        waiting[address, default: []].append(work)
        count += 1
        return true
    }

    /// The next piece of work: of the address with the fewest that run, and among these of the one whose turn it is.
    mutating func next() -> (work: Work, address: String)? {
        guard let index = turns.indices.min(by: { running[turns[$0]] ?? 0 < running[turns[$1]] ?? 0 }) else { return nil }
        let address = turns.remove(at: index)
        guard var works = waiting[address], !works.isEmpty else { return nil }
        let work = works.removeFirst()
        count -= 1
        waiting[address] = works.isEmpty ? nil : works
        if !works.isEmpty { turns.append(address) }
        running[address, default: 0] += 1
        return (work, address)
    }

    /// A piece of work is done.
    mutating func finished(from address: String) {
        let left = (running[address] ?? 1) - 1
        running[address] = left > 0 ? left : nil
    }
}
