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
