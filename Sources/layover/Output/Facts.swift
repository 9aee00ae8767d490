/// Names and values, one pair a line.
struct Facts {
    private var pairs: [(name: String, value: String)] = []

    mutating func add(_ name: String, _ value: String?) {
        if let value { pairs.append((name, Terminal.safe(value))) }
    }

    /// A value in the colour of a state.
    mutating func add(_ name: String, _ value: String, as state: String, _ terminal: Terminal) {
        pairs.append((name, terminal.colored(Terminal.safe(value), as: state)))
    }

    var lines: [String] {
        let width = pairs.map(\.name.count).max() ?? 0
        return pairs.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2) + value
        }
    }
}
