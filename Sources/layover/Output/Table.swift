/// Rows for people: columns aligned, and cut where the terminal ends.
struct Table {
    struct Column {
        var title: String
        var isRight = false
        /// Whether the column may be shortened on a narrow terminal.
        var isFlexible = false
        /// The width down to which the column is shortened. Default: 12.
        var widthMin = 12
        /// On a narrow terminal columns of higher ranks are dropped first, and of equal ones those on the right. Default: 0.
        var rank = 0
    }

    private static let gap = 2

    let columns: [Column]
    private(set) var rows: [[String]] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ cells: [String]) { rows.append(cells.map(Terminal.safe)) }

    /// - Parameter color: Colours the text of a cell, which is as wide as its column by then.
    func lines(
        width: Int?, color: (_ row: Int, _ column: Int, _ text: String) -> String = { $2 }
    ) -> [String] {
        let widths = widths(within: width)
        let head = line(columns.map(\.title), widths) { $1 }
        return [head] + rows.enumerated().map { number, row in line(row, widths) { color(number, $0, $1) } }
    }

    private func line(_ cells: [String], _ widths: [Int], _ color: (Int, String) -> String) -> String {
        var parts: [String] = []
        for (index, cell) in cells.enumerated() where widths[index] > 0 {
            let text = Self.cut(cell, to: widths[index])
            let padding = String(repeating: " ", count: widths[index] - DisplayWidth.of(text))
            if columns[index].isRight {
                parts.append(padding + color(index, text))
            } else {
                let isLast = index == widths.lastIndex { $0 > 0 }
                parts.append(color(index, text) + (isLast ? "" : padding))
            }
        }
        return parts.joined(separator: String(repeating: " ", count: Self.gap))
    }

    /// The widest cell decides. On a narrow terminal columns are dropped until the others fit when they are shortened, and
    /// flexible columns are shortened then.
    private func widths(within max: Int?) -> [Int] {
        var widths = columns.indices.map { index in
            rows.reduce(columns[index].title.count) { Swift.max($0, DisplayWidth.of($1[index])) }
        }
        guard let max else { return widths }
        let dropped = columns.indices.dropFirst().sorted { (columns[$0].rank, $0) > (columns[$1].rank, $1) }
        for index in dropped where Self.total(shortened(widths)) > max { widths[index] = 0 }
        for index in columns.indices where columns[index].isFlexible && widths[index] > columns[index].widthMin {
            let excess = Self.total(widths) - max
            if excess > 0 { widths[index] = Swift.max(columns[index].widthMin, widths[index] - excess) }
        }
        widths[0] = Swift.min(widths[0], Swift.max(1, max))
        return widths
    }

    /// The widths when every flexible column is shortened as far as may be.
    private func shortened(_ widths: [Int]) -> [Int] {
        columns.indices.map { columns[$0].isFlexible ? min(widths[$0], columns[$0].widthMin) : widths[$0] }
    }

    private static func total(_ widths: [Int]) -> Int {
        let shown = widths.filter { $0 > 0 }
        return shown.reduce(0, +) + Swift.max(0, shown.count - 1) * gap
    }

    static func cut(_ text: String, to width: Int) -> String {
        DisplayWidth.of(text) <= width ? text : DisplayWidth.prefix(text, Swift.max(0, width - 1)) + "…"
    }
}
