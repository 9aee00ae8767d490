import LayoverHTTP
import Testing

struct AuthorityTests {
    @Test(arguments: [
        ("A.Example", "a.example", nil, false), ("a:1", "a", 1, false), ("a:65535", "a", 65_535, false), ("a.:80", "a.", 80, false), ("127.1", "127.1", nil, false),
        ("0x7f000001:080", "0x7f000001", 80, false), ("[::]", "::", nil, true), ("[2001:DB8::1]:443", "2001:db8::1", 443, true),
        ("[1:2:3:4:5:6:7:8]", "1:2:3:4:5:6:7:8", nil, true), ("[1:2:3:4:5:6:1.2.3.4]", "1:2:3:4:5:6:1.2.3.4", nil, true), ("[1::]", "1::", nil, true),
        ("[::ffff:0:1]", "::ffff:0:1", nil, true), ("[1:2:3:4:5:6:7::]", "1:2:3:4:5:6:7::", nil, true),
    ] as [(String, String, Int?, Bool)])
    func validAuthorityIsTakenApart(text: String, host: String, port: Int?, isIPv6Literal: Bool) {
        #expect(Authority(parsing: text) == Authority(host: host, port: port, isIPv6Literal: isIPv6Literal))
    }

    @Test(arguments: ["", ":", ":80", "a:", "a b", "[", "[]", "[::1", "::1", "u@a", "a/b", "a:00000080", "[::1]80", "[1::2::3]", "é", "a..b", "[1:2:3:4:5:6:7:8::]"])
    func invalidAuthorityIsNone(text: String) {
        #expect(Authority(parsing: text) == nil)
    }

    @Test func longestNameIsAccepted() {
        let name = String(repeating: String(repeating: "a", count: 49) + ".", count: 5) + "abc"
        #expect(name.utf8.count == 253)
        #expect(Authority(parsing: name) != nil)
        #expect(Authority(parsing: name + ".") != nil)
        #expect(Authority(parsing: name + "d") == nil)
    }

    @Test(arguments: ["a", "a:80", "[::1]", "[::1]:80"])
    func descriptionIsTheOriginalText(text: String) {
        #expect(Authority(parsing: text)?.description == text)
    }
}
