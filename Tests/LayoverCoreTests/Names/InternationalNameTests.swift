import Testing

@testable import LayoverCore

struct InternationalNameTests {
    @Test(arguments: [
        ("xn--mnchen-3ya.de", "münchen.de"), ("a.xn--r8jz45g.xn--zckzah", "a.例え.テスト"), ("xn--n3h", "☃"),
        ("xn--99999999", nil), ("xn--", nil), ("a.example", nil), ("xn--\u{FC}", nil),
    ])
    func labelsAreRead(host: String, readable: String?) {
        #expect(InternationalName.readable(host) == readable)
    }
}
