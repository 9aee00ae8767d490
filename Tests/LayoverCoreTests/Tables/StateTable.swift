/// A table of a machine: what each event does in each state, found by trying.
struct StateTable {
    var name: String
    /// Sentences before the table.
    var introduction: String
    var states: [String]
    var events: [String]
    /// By state and event; every pair is there.
    private var cells: [String: Cell] = [:]

    struct Cell: Equatable {
        var next: String
        /// Other actions of the transition.
        var actions: [String]
    }

    init(
        name: String, introduction: String, states: [String], events: [String],
        trying attempt: (_ state: String, _ event: String) -> Cell
    ) {
        (self.name, self.introduction, self.states, self.events) = (name, introduction, states, events)
        for state in states {
            for event in events { cells[Self.key(state, event)] = attempt(state, event) }
        }
    }

    private static func key(_ state: String, _ event: String) -> String { "\(state) \(event)" }

    subscript(state: String, event: String) -> Cell {
        cells[Self.key(state, event)] ?? Cell(next: state, actions: [])
    }

    var markdown: String {
        var lines = ["## \(name)", "", introduction, "", diagram, ""]
        lines.append("| event | " + states.map { "in `\($0)`" }.joined(separator: " | ") + " |")
        lines.append("| --- |" + String(repeating: " --- |", count: states.count))
        for event in events {
            lines.append("| \(event) | " + states.map { text(self[$0, event], in: $0) }.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func text(_ cell: Cell, in state: String) -> String {
        let parts = (cell.next == state ? [] : ["→ `\(cell.next)`"]) + cell.actions
        return parts.isEmpty ? "·" : parts.joined(separator: ", ")
    }

    /// Arrows between different states, each with all the events that take it.
    private var diagram: String {
        var lines = ["```mermaid", "stateDiagram-v2"]
        for (index, state) in states.enumerated() { lines.append("    state \"\(state)\" as s\(index)") }
        for (index, state) in states.enumerated() {
            for (other, next) in states.enumerated() where other != index {
                let taken = events.filter { self[state, $0].next == next }
                guard !taken.isEmpty else { continue }
                let shown = taken.prefix(4).joined(separator: " / ") + (taken.count > 4 ? " / …" : "")
                // A second colon would end the label.
                lines.append("    s\(index) --> s\(other): \(shown.filter { $0 != ":" })")
            }
        }
        return (lines + ["```"]).joined(separator: "\n")
    }
}
