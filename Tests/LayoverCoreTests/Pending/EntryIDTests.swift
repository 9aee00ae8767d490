import LayoverTestSupport
import Testing

@testable import LayoverCore

struct EntryIDTests {
    @Test func entryIDTextRoundTrips() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let id = EntryID(using: &generator)
            #expect(id.description.utf8.count == 32)
            #expect(EntryID(id.description) == id)
        }
        #expect(EntryID("000000000000000000000000000000ff")?.low == 255)
        #expect(
            EntryID("000000000000000000000000000000ff")?.description == "000000000000000000000000000000ff")
    }

    @Test(arguments: [
        "", "ff", "000000000000000000000000000000FF", "000000000000000000000000000000fg",
        "0000000000000000000000000000000ff", "-00000000000000000000000000000ff",
        "0000000000000000000000000000é",
        " 000000000000000000000000000000f",
    ])
    func otherTextIsNoID(text: String) {
        #expect(EntryID(text) == nil)
    }
}
