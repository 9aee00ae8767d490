import Testing

@testable import LayoverCore

struct EntryNamingTests {
    private static let id = "0123456789abcdef0123456789abcdef"

    private static let texts: [(String, String)] = [
        ("", ""), ("\(id)", "***"), ("\(id).request", "***.request"), ("a file, \(id)!", "a file, ***!"),
        ("\(id)0", "\(id)0"), ("x\(id)", "x***"), ("\(id)-\(id)", "***-***"), ("ABCDEF", "ABCDEF"), ("é\(id)é", "é***é"),
        (String(id.dropLast()), String(id.dropLast())),
    ]

    @Test(arguments: texts)
    func thirtyTwoDigitsAreMasked(text: String, masked: String) {
        #expect(MaskedTicketIDs.text(text) == masked)
    }

    private static let urls: [(String, String)] = [
        ("http://a/\(id)", "http://a/\(id)"), ("http://a/~ticket.\(id).location~", "http://a/~ticket.***.location~"),
        ("/%7Eticket.\(id)?~ticket.\(id)0", "/%7Eticket.***?~ticket.***"), ("/ticket.abc", "/ticket.abc"),
        ("/%7Eticket%2E\(id).status%7E", "/%7Eticket%2E***.status%7E"), ("/%7e%74icket%2e%30\(id.dropFirst())/x", "/%7e%74icket%2e***/x"),
        ("/~ticket.%3\(id)", "/~ticket.***"), ("/~ticket.%zz\(id)", "/~ticket.%zz\(id)"),
        ("/~ticket.~ticket.\(id)%", "/~ticket.~ticket.***%"),
    ]

    @Test(arguments: urls)
    func idsInTokensAreMaskedInATarget(url: String, masked: String) {
        #expect(MaskedURL.text(url) == masked)
    }
}
