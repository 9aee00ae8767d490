import Testing

@testable import LayoverCore

struct MaskedURLTests {
    @Test(arguments: [
        ("http://a.example/p?page=2", "http://a.example/p?page=2"),
        ("http://a.example/p?token=abc", "http://a.example/p?token=***"),
        ("http://a.example/?a=1&access_token=x&b=2", "http://a.example/?a=1&access_token=***&b=2"),
        (
            "http://a.example/?X-Amz-Signature=f00&X-Amz-Date=1",
            "http://a.example/?X-Amz-Signature=***&X-Amz-Date=1"
        ),
        ("http://a.example/?clientSecret=x;apikey=y#z", "http://a.example/?clientSecret=***;apikey=***#z"),
        ("http://a.example/?%74oken=x", "http://a.example/?%74oken=***"),
        ("http://a.example/?API_KEY=x&code=y&sig=z", "http://a.example/?API_KEY=***&code=***&sig=***"),
        (
            "http://a.example/?keyword=x&encode=y&sigma=z&postcode=1",
            "http://a.example/?keyword=x&encode=y&sigma=z&postcode=1"
        ),
        ("http://a.example/?token=&token", "http://a.example/?token=&token"),
        ("http://a.example/?token=a=b?c", "http://a.example/?token=***"),
        ("http://user:pw@a.example/", "http://***@a.example/"),
        ("http://a.example/@home", "http://a.example/@home"),
        ("a.example:443", "a.example:443"), ("*", "*"), ("", ""),
    ])
    func secretsAreMaskedAndTheRestStays(url: String, masked: String) {
        #expect(MaskedURL.text(url) == masked)
    }
}
