import Foundation
import LayoverAdmin

/// Entries as a table.
struct EntryTable {
    /// Digits of an id that tell it from others well enough.
    static let idCount = 12

    let entries: [EntryDocument]
    let now: Date

    func lines(_ terminal: Terminal) -> [String] {
        guard !entries.isEmpty else { return ["nothing is pending"] }
        var table = Table([
            .init(title: "ID"), .init(title: "STATE"), .init(title: "WAITS FOR"),
            .init(title: "NEXT", isRight: true), .init(title: "TRIES", isRight: true),
            .init(title: "AGE", isRight: true), .init(title: "METHOD"), .init(title: "URL", isFlexible: true),
            .init(title: "LAST FAILURE", isFlexible: true),
        ])
        for entry in entries { table.add(cells(of: entry)) }
        return table.lines(width: terminal.width) { row, column, text in
            column == 1 ? terminal.colored(text, as: entries[row].state) : text
        }
    }

    private func cells(of entry: EntryDocument) -> [String] {
        [
            String(entry.id.prefix(Self.idCount)), entry.state, entry.waitingFor ?? entry.why ?? "-",
            TimeText.distance(entry.nextAttemptAt, from: now), String(entry.attempts),
            TimeText.distance(entry.parkedAt, from: now), entry.method, entry.url,
            entry.lastFailure?.kind ?? "-",
        ]
    }
}
