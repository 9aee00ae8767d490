import LayoverTestSupport
import Testing

@testable import LayoverCore

/// The search finds what a plain one would find.
struct SearchedPartTests {
    @Test func partsAreFoundAsInFoldedTexts() {
        var generator = SeededGenerator(seed: 5)
        let letters = Array("aAbBsS/ß.éÉ-")
        func text(_ countMax: Int) -> String {
            String((0..<Int.random(in: 0...countMax, using: &generator)).map { _ in letters.randomElement(using: &generator)! })
        }
        for _ in 0..<4000 {
            let (whole, part) = (text(12), text(3))
            let folded = whole.uppercased().lowercased()
            let expected = part.isEmpty || folded.contains(part.uppercased().lowercased())
            #expect(SearchedPart(part).isIn(whole) == expected, "\(part) in \(whole)")
        }
    }

    @Test(arguments: [
        ("straße", "/STRASSE"), ("STRASSE", "/straße"), ("\u{212A}elvin", "/kelvin"), ("ÉTÉ", "e\u{301}te\u{301}"), ("яблоко", "ЯБЛОКО"),
    ])
    func everyAlphabetIsFolded(part: String, whole: String) {
        #expect(SearchedPart(part).isIn(whole))
    }

    /// The search byte by byte reads the same path as the search in the text.
    @Test(arguments: [
        ("http://a.example/cart?x=1", true), ("http://a.example", true), ("http://a.example?x", true), ("http://a.example/#part", true),
        ("https://a.example:8443/a/b", true), ("a.example:443", true), ("/only/a/path", false), ("http://a.example/caf%C3%A9", false),
        ("http://a.example/café", false), ("http://a.example/?caf%C3%A9", true), ("http://a.example/%41%zz%4", false),
        ("http://a.example/~ticket.0~", false), ("http://a.example/%7Etic%6Bet.0~", false),
    ])
    func plainPathIsReadAsItsText(url: String, isPlain: Bool) {
        let seen = TargetText.withPlainPath(of: url) { String(decoding: $0, as: UTF8.self) }
        #expect(seen == (isPlain ? TargetText.path(of: url) : nil))
    }

    /// A search in the folded text of the store finds the same parts as a search in the original text.
    @Test(arguments: ["", "cart", "CART", "straße", "STRASSE", "é", "E\u{301}", "e", "ΣΑΣ", "x", "\n"])
    func foldedTextHasTheSameParts(part: String) {
        for text in ["", "/Cart", "Straße", "STRASSE 7", "caf\u{E9}", "cafe\u{301}", "σας", "/x/É", "Привет"] {
            let folded = FoldedText(text).text
            #expect(SearchedPart(part).isInFolded(folded) == SearchedPart(part).isIn(text), "\(part) in \(text)")
        }
    }
}
