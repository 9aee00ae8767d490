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

/// Columns that text takes on a terminal: characters of East Asian scripts and emoji take two, marks on others none.
///
/// - SeeAlso: Unicode Standard Annex 11; wcwidth(3), whose table depends on the locale.
enum DisplayWidth {
    static func of(_ text: String) -> Int { text.reduce(0) { $0 + of($1) } }

    /// The longest beginning that fits.
    static func prefix(_ text: String, _ width: Int) -> Substring {
        var used = 0
        let end = text.indices.first { index in
            used += of(text[index])
            return used > width
        }
        return text[..<(end ?? text.endIndex)]
    }

    private static func of(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.isASCII { return 1 }
        // A mark that follows no letter: the text begins with it.
        if [.nonspacingMark, .enclosingMark].contains(first.properties.generalCategory) { return 0 }
        let isEmoji = first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}")
        return isEmoji || wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The blocks whose characters are wide or full width (EastAsianWidth.txt: W and F).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DF2, 0x1AFF0...0x1B2FB,
        0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
}

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
