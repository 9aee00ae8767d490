import LayoverCore
import LayoverEngine
import Testing

struct EntryIDPrefixTests {
    private let id = EntryID("0123456789abcdef0f1e2d3c4b5a6978")

    @Test(arguments: 1...31)
    func prefixOfAnyLengthFitsItsIDAndNoOther(count: Int) throws {
        let id = try #require(id)
        let digits = String(id.description.prefix(count))
        let prefix = try #require(EntryIDPrefix(digits))
        #expect(prefix.begins(id))
        let other = digits.dropLast() + (digits.last == "0" ? "1" : "0")
        #expect(EntryIDPrefix(String(other))?.begins(id) == false)
    }

    @Test(arguments: ["", "g", "A", "0x1", "é", "0123456789abcdef0f1e2d3c4b5a6978", "0123456789abcdef0f1e2d3c4b5a69780"])
    func otherTextIsNoPrefix(text: String) {
        #expect(EntryIDPrefix(text) == nil)
    }
}
