import LayoverHTTP
import Testing

/// `Prefer` (RFC 7240).
struct PreferencesTests {
    @Test(arguments: [
        "respond-async", "RESPOND-ASYNC", " respond-async\t", "respond-async=\"\"", "respond-async=", "respond-async; foo=bar",
        "respond-async;foo=\"a,b\"", "return=minimal, respond-async", ",respond-async,", "respond-async, respond-async",
        "handling=\"a \\\" , b\", respond-async",
    ])
    func respondAsyncIsFound(value: String) {
        #expect(Preferences([value]).respondsAsync)
    }

    @Test(arguments: [
        "", ",,", "respond-asynchronously", "x-respond-async", "respond-async=1", "respond-async=\"yes\"", "respond async", "\"respond-async\"",
        "foo=\"respond-async\"", "foo=\", respond-async\"", "foo=\"a\\\", respond-async\"", "foo; respond-async", "foo=\"never closed, respond-async",
    ])
    func similarPreferencesAreNotRespondAsync(value: String) {
        #expect(!Preferences([value]).respondsAsync)
    }

    @Test(arguments: [
        ("wait=10", 10), ("WAIT=10", 10), ("wait = 10", 10), ("wait=\"10\"", 10), ("wait=\"1\\0\"", 10), ("wait=0", 0), ("wait=007", 7),
        ("wait=10; x=y", 10), ("respond-async, wait=3", 3), ("wait=99999999999999999999999999", Int.max), ("wait=1, wait=2", 1),
        ("wait=\"10\" ;x", 10),
    ])
    func aWaitIsSeconds(value: String, seconds: Int) {
        #expect(Preferences([value]).wait == seconds)
        #expect(Preferences([value]).others.isEmpty)
    }

    @Test(arguments: [
        "wait", "wait=", "wait=\"\"", "wait=-1", "wait=+1", "wait=1.5", "wait=1s", "wait=ten", "wait=0x10", "wait=1 0", "wait=\"10", "wait=1\"0",
        "wait=\"1\"0", "wait=١", "wait=abc, wait=10",
    ])
    func invalidWaitIsIgnoredAndForwarded(value: String) {
        let preferences = Preferences([value])
        #expect(preferences.wait == nil)
        #expect(preferences.others.first == value.split(separator: ",").first.map(String.init))
    }

    @Test func otherPreferencesAreForwardedUnchanged() {
        let value = "return=representation; a=\"b;c\", handling=lenient,respond-async,  foo=\"x, \\\"y\\\"\" ; q , wait=1"
        #expect(Preferences([value]).others == ["return=representation; a=\"b;c\"", "handling=lenient", "foo=\"x, \\\"y\\\"\" ; q"])
    }

    @Test func aLongFieldIsReadOnce() {
        let value = Array(repeating: "a=\"b,c\"", count: 8000).joined(separator: ",") + ",respond-async"
        let preferences = Preferences([value])
        #expect(preferences.respondsAsync)
        #expect(preferences.others.count == 8000)
    }

    @Test func headHasThePreferencesOfAllItsFields() throws {
        #expect(try requestHead(fields: "A: 1").preferences == nil)
        let head = try requestHead(fields: "Prefer: return=minimal", "X: 1", "prefer: wait=5, x", "Prefer: respond-async, wait=9")
        #expect(head.preferences?.respondsAsync == true)
        #expect(head.preferences?.wait == 5, "of two with the same name the first counts")
        #expect(head.preferences?.others == ["return=minimal", "x"])
    }
}
