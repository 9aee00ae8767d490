import Foundation
import LayoverAdmin

/// Entries as a table.
struct EntryTable {
    /// Digits of a shortened id.
    static let idCount = 12

    let entries: [EntryDocument]
    let now: Date

    func lines(_ terminal: Terminal) -> [String] {
        guard !entries.isEmpty else { return ["no pending requests"] }
        // Without lanes there is no column for them.
        let hasLanes = entries.contains { $0.lane != nil }
        var table = Table(columns(withLanes: hasLanes))
        for entry in entries { table.add(cells(of: entry, withLane: hasLanes)) }
        return table.lines(width: terminal.width) { row, column, text in
            column == 1 ? terminal.colored(text, as: entries[row].state) : text
        }
    }

    private func columns(withLanes hasLanes: Bool) -> [Table.Column] {
        var columns: [Table.Column] = [
            .init(title: "ID"), .init(title: "STATE"), .init(title: "WAITING FOR"),
            .init(title: "NEXT", isRight: true), .init(title: "TRIES", isRight: true),
            .init(title: "AGE", isRight: true), .init(title: "METHOD"), .init(title: "URL", isFlexible: true),
            .init(title: "LAST FAILURE", isFlexible: true),
        ]
        if hasLanes { columns.insert(.init(title: "LANE", isFlexible: true), at: Self.laneColumn) }
        return columns
    }

    /// Before the method: the lane decides the order, as the columns before it do.
    private static let laneColumn = 6

    private func cells(of entry: EntryDocument, withLane hasLane: Bool) -> [String] {
        var cells = [
            String(entry.id.prefix(Self.idCount)), entry.state, entry.waitingFor ?? entry.why ?? "-",
            TimeText.distance(entry.nextAttemptAt, from: now), String(entry.attempts),
            TimeText.distance(entry.parkedAt, from: now), entry.method, entry.url,
            entry.lastFailure?.kind ?? "-",
        ]
        if hasLane { cells.insert(entry.lane ?? "-", at: Self.laneColumn) }
        return cells
    }
}
