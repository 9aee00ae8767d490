import LayoverHTTP
import Testing

/// `Priority` (RFC 9218).
struct UrgencyTests {
    @Test(
        arguments: [
            ("u=0", 0), ("u=7", 7), ("u=3, i", 3), ("i, u=5", 5), ("i,u=5", 5), (" u=2 ", 2), ("u=1;x=y", 1), ("u=1, u=6", 6),
            ("i;u=3, u=4", 4), ("", nil), ("i", nil), ("u", nil), ("u=", nil), ("u=8", nil), ("u=9", nil), ("u=-1", nil),
            ("u=10", nil), ("u=1.0", nil), ("u=a", nil), ("u=\"1\"", nil), ("u=?1", nil), ("U=1", nil), ("xu=1", nil),
            ("i;u=3", nil), ("u=1, u=x", nil), ("u=٣", nil), ("=1", nil),
        ] as [(String, Int?)])
    func urgencyIsADigitOrMissing(value: String, urgency: Int?) throws {
        #expect(try requestHead(fields: "Priority: \(value)").urgency == urgency)
    }

    @Test func severalFieldsAreOne() throws {
        #expect(try requestHead(fields: "Priority: i", "Priority: u=4").urgency == 4)
        #expect(try requestHead(fields: "X: u=1").urgency == nil)
    }
}
