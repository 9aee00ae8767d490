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
        ("http://a.example/?client_assertion=x&a=1", "http://a.example/?client_assertion=***&a=1"),
        ("/.layover/route/n/~k3y/a?b=1", "/.layover/route/n/~***/a?b=1"), ("/.layover/route/n/~k3y?b", "/.layover/route/n/~***?b"),
        ("http://localhost:1/.layover/route/no-route/%7Ek3y", "http://localhost:1/.layover/route/no-route/~***"),
        ("http://a/x?u=http://l/.layover/route/n/%7ek3y&c=d", "http://a/x?u=http://l/.layover/route/n/~***&c=d"),
        ("/.layover/route/n/a/~b", "/.layover/route/n/a/~b"), ("/.layover/route/n", "/.layover/route/n"), ("/.layover/route/", "/.layover/route/"),
        ("http://user:pw@a.example/", "http://***@a.example/"),
        ("http://a.example/@home", "http://a.example/@home"),
        ("a.example:443", "a.example:443"), ("*", "*"), ("", ""),
    ])
    func secretsAreMaskedAndTheRestStays(url: String, masked: String) {
        #expect(MaskedURL.text(url) == masked)
    }

    @Test(arguments: [
        ("https://a.example/p?token=abc", "https://a.example/p?token=***"), ("text/html;q=0.5", "text/html;q=0.5"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "***"), ("jws eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0., b", "jws ***, b"),
        ("eyJ", "eyJ"), ("eyJhbGciOiJIUzI1NiJ9 is no token", "eyJhbGciOiJIUzI1NiJ9 is no token"),
        ("http://l/.layover/route/x/%7Ek3y/a", "http://l/.layover/route/x/~***/a"),
    ])
    func secretsInValuesAreMasked(value: String, masked: String) {
        #expect(MaskedValue.text(value) == masked)
    }

    @Test(arguments: [
        ("http://l/.layover/route/x/~k3y/a?b", "http://l/.layover/route/x/a?b"), ("http://l/.layover/route/x/%7Ek3y", "http://l/.layover/route/x"),
        ("http://l/.layover/route/x/a", nil), ("http://l/~me", nil), ("", nil),
    ])
    func keyIsCutOutOfAReferer(referer: String, without: String?) {
        #expect(MaskedRouteKeys.withoutKeys(Array(referer.utf8)) == without.map { Array($0.utf8) })
    }
}
