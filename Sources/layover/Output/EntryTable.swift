import Foundation
import LayoverAdmin

/// Entries as a table.
struct EntryTable {
    /// Digits of a shortened id. Default: 12.
    static let idCountMin = 12

    let entries: [EntryDocument]
    let now: Date

    func lines(_ terminal: Terminal) -> [String] {
        guard !entries.isEmpty else { return ["no pending requests"] }
        // Without lanes there is no column for them.
        let hasLanes = entries.contains { $0.lane != nil }
        var table = Table(columns(withLanes: hasLanes))
        let idCount = Self.idCount(of: entries.map(\.id))
        for entry in entries { table.add(cells(of: entry, idCount: idCount, withLane: hasLanes)) }
        return table.lines(width: terminal.width) { row, column, text in
            column == 1 ? terminal.colored(text, as: entries[row].state) : text
        }
    }

    /// The fewest digits that tell all of these ids apart, and at least 12.
    static func idCount(of ids: [String]) -> Int {
        let sorted = ids.sorted()
        let shared = zip(sorted, sorted.dropFirst()).map { one, next in
            one == next ? 0 : zip(one, next).prefix { $0 == $1 }.count
        }
        return max(idCountMin, (shared.max() ?? 0) + 1)
    }

    /// Of a delivered request with its status.
    private static func state(of entry: EntryDocument) -> String {
        entry.response.map { "\(entry.state) \($0.status)" } ?? entry.state
    }

    /// The line below a list that was cut; nil if nothing is missing.
    static func rest(_ count: Int) -> String? { count > 0 ? "… and \(count) more" : nil }

    /// The last line of a list, as that of mailq: how many requests it shows, in which states, and the bytes of their bodies.
    var summary: String? {
        guard !entries.isEmpty else { return nil }
        let counts = Dictionary(entries.map { ($0.state, 1) }, uniquingKeysWith: +)
        let order = ["waiting", "attempting", "held", "undecided"]
        let names = order.filter { counts[$0] != nil } + counts.keys.filter { !order.contains($0) }.sorted()
        let states = names.map { "\(counts[$0] ?? 0) \($0)" }.joined(separator: ", ")
        return Terminal.safe("total: \(states), \(entries.reduce(0) { $0 + $1.requestBytes }) bytes of bodies")
    }

    private func columns(withLanes hasLanes: Bool) -> [Table.Column] {
        // At 80 columns there is no room for all of them; what is asked for and why it failed is told last of all.
        var columns: [Table.Column] = [
            .init(title: "ID"), .init(title: "STATE"), .init(title: "WAITING FOR", rank: 2),
            .init(title: "NEXT", isRight: true, rank: 4), .init(title: "TRIES", isRight: true, rank: 5),
            .init(title: "AGE", isRight: true, rank: 1), .init(title: "METHOD", rank: 1),
            .init(title: "URL", isFlexible: true, widthMin: 24), .init(title: "LAST FAILURE", isFlexible: true),
        ]
        if hasLanes { columns.insert(.init(title: "LANE", isFlexible: true, rank: 3), at: Self.laneColumn) }
        return columns
    }

    /// Before the method: the lane decides the order, as the columns before it do.
    private static let laneColumn = 6

    private func cells(of entry: EntryDocument, idCount: Int, withLane hasLane: Bool) -> [String] {
        var cells = [
            String(entry.id.prefix(idCount)), Self.state(of: entry), entry.waitingFor ?? entry.why ?? "-",
            TimeText.distance(entry.nextAttemptAt, from: now), String(entry.attempts),
            TimeText.distance(entry.parkedAt, from: now), entry.method, entry.url,
            entry.lastFailure?.kind ?? "-",
        ]
        if hasLane { cells.insert(entry.lane ?? "-", at: Self.laneColumn) }
        return cells
    }
}
