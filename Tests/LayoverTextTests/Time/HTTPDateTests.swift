import LayoverText
import Testing

struct HTTPDateTests {
    /// 2026-11-21T06:15:17Z.
    private static let now = 1_795_241_717

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Monday, 01-Jan-76 00:00:00 GMT", 3_345_062_400),
        ("Monday, 01-Jan-77 00:00:00 GMT", 220_924_800),
    ])
    func allThreeFormsAreRead(text: String, seconds: Int) {
        #expect(HTTPDate.seconds(text, now: Self.now) == seconds)
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func dateIsWrittenInTheFormOfSenders(second: Int, text: String) {
        #expect(HTTPDate.text(second) == text)
        #expect(HTTPDate.seconds(text, now: Self.now) == second)
    }

    @Test(arguments: [
        "", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 94 08:49:37 PST",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 8 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
    ])
    func invalidDateIsNil(text: String) {
        #expect(HTTPDate.seconds(text, now: Self.now) == nil)
    }
}
