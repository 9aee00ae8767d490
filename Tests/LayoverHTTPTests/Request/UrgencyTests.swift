import LayoverHTTP
import Testing

/// `Priority` (RFC 9218).
struct UrgencyTests {
    @Test(arguments: [
        ("u=0", 0), ("u=7", 7), ("u=3, i", 3), ("i, u=5", 5), ("i,u=5", 5), (" u=2 ", 2), ("u=1;x=y", 1), ("u=1, u=6", 6), ("i;u=3, u=4", 4),
    ])
    func urgencyIsADigit(value: String, urgency: Int) throws {
        #expect(try requestHead(fields: "Priority: \(value)").urgency == urgency)
    }

    @Test(arguments: [
        "", "i", "u", "u=", "u=8", "u=9", "u=-1", "u=10", "u=1.0", "u=a", "u=\"1\"", "u=?1", "U=1", "xu=1", "i;u=3", "u=1, u=x", "u=٣", "=1",
    ])
    func invalidUrgencyCountsAsMissing(value: String) throws {
        #expect(try requestHead(fields: "Priority: \(value)").urgency == nil)
    }

    @Test func severalFieldsAreOne() throws {
        #expect(try requestHead(fields: "Priority: i", "Priority: u=4").urgency == 4)
        #expect(try requestHead(fields: "X: u=1").urgency == nil)
    }
}
