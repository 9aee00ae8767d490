import LayoverTestSupport
import Testing

@testable import LayoverCore

/// S3k: sensible sorting, in every alphabet.
struct TextOrderTests {
    @Test func caseAndMarksDoNotTearWordsApart() {
        let words = ["zoo", "Zebra", "éclair", "Eclair", "Äpfel", "apple", "Apfel", "ångström", "Яблоко", "яблоня", "straße", "Strasse 2", "10", ""]
        let sorted = words.sorted { TextOrder.compare($0, $1) < 0 }
        #expect(
            sorted == [
                "", "10", "ångström", "Apfel", "Äpfel", "apple", "Eclair", "éclair", "straße", "Strasse 2", "Zebra", "zoo", "Яблоко",
                "яблоня",
            ])
    }

    @Test func textsThatDifferInCaseAloneAreEqual() {
        for (one, other) in [("Shop", "sHOP"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("STRASSE", "straße"), ("É", "e\u{301}")] {
            #expect(TextOrder.compare(one, other) == 0, "\(one)")
        }
    }

    @Test func orderIsTotal() {
        var generator = SeededGenerator(seed: 7)
        let letters = Array("aAbBzZäÄöéøßññ9-/?ЯяΣς")
        let words = (0..<60).map { _ in String((0..<Int.random(in: 0...4, using: &generator)).map { _ in letters.randomElement(using: &generator)! }) }
        for one in words {
            for other in words {
                #expect(TextOrder.compare(one, other).signum() == -TextOrder.compare(other, one).signum(), "\(one) \(other)")
                for third in words where TextOrder.compare(one, other) < 0 && TextOrder.compare(other, third) < 0 {
                    #expect(TextOrder.compare(one, third) < 0, "\(one) \(other) \(third)")
                }
            }
        }
    }
}
