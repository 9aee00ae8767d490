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

    /// What is looked through byte by byte is the same path as the one that is read as text.
    @Test(arguments: [
        "http://a.example/cart?x=1", "http://a.example", "http://a.example?x", "http://a.example/#part", "https://a.example:8443/a/b",
        "a.example:443", "/only/a/path", "http://a.example/caf%C3%A9", "http://a.example/%41%zz%4", "http://a.example/~ticket.0~",
        "http://a.example/%7Etic%6Bet.0~",
    ])
    func pathIsScannedAsItsText(url: String) {
        var copy = url
        var seen: [String] = []
        _ = copy.withUTF8 { bytes in
            TargetText.scanPath(of: bytes) { part in
                seen.append(String(decoding: part, as: UTF8.self))
                return false
            }
        }
        let path = TargetText.path(of: url)
        let mayHaveTicket = url.contains("tic")
        let isScanned = url.contains("://") && !mayHaveTicket
        #expect(seen == (isScanned ? [path] + (TargetText.percentDecoded(path).map { [$0] } ?? []) : []))
    }
}
