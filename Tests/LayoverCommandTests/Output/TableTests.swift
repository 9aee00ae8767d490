import Testing

@testable import layover

struct TableTests {
    private func table() -> Table {
        var table = Table([
            .init(title: "ID"), .init(title: "N", isRight: true), .init(title: "URL", isFlexible: true),
            .init(title: "END"),
        ])
        table.add(["a", "1", "http://a.example/a/long/path", "x"])
        table.add(["bbb", "20", "short", "yyyy"])
        return table
    }

    @Test func columnsAreAligned() {
        #expect(
            table().lines(width: nil) == [
                "ID    N  URL                           END",
                "a     1  http://a.example/a/long/path  x",
                "bbb  20  short                         yyyy",
            ])
    }

    @Test func flexibleColumnIsShortenedFirst() {
        #expect(
            table().lines(width: 30) == [
                "ID    N  URL              END",
                "a     1  http://a.examp…  x",
                "bbb  20  short            yyyy",
            ])
    }

    @Test(arguments: 1...60)
    func linesAreNeverLongerThanTheTerminal(width: Int) {
        #expect(table().lines(width: width).allSatisfy { $0.count <= width })
    }

    @Test(arguments: [("abc", 3), ("寿司", 4), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("ｱ", 1), ("한", 2), ("\u{301}", 0), ("❤️", 2), ("…", 1), ("é—", 2)])
    func widthIsThatOnTheTerminal(text: String, width: Int) { #expect(DisplayWidth.of(text) == width) }

    @Test func wideCharactersKeepTheColumnsAligned() {
        var table = Table([.init(title: "LANE", isFlexible: true, widthMin: 4), .init(title: "END")])
        table.add(["寿司寿司寿司", "x"])
        table.add(["a", "y"])
        #expect(table.lines(width: nil) == ["LANE          END", "寿司寿司寿司  x", "a             y"])
        // A wide character that does not fit leaves a column empty.
        #expect(table.lines(width: 12) == ["LANE     END", "寿司寿…  x", "a        y"])
        #expect(table.lines(width: 11) == ["LANE    END", "寿司…   x", "a       y"])
    }

    @Test func controlCharactersDoNotReachTheTerminal() {
        var table = Table([.init(title: "X")])
        table.add(["a\u{1B}[2Jb\nc\u{202E}d\u{7F}"])
        #expect(table.lines(width: nil).last == "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}d\u{FFFD}")
    }

    @Test func colorsDoNotCountAsWidth() {
        let terminal = Terminal(width: 80, hasColor: true, isInteractive: true)
        let lines = table().lines(width: nil) { _, column, text in
            column == 0 ? terminal.colored(text, as: "failed") : text
        }
        #expect(lines[1] == "\u{1B}[31ma\u{1B}[0m     1  http://a.example/a/long/path  x")
    }
}
