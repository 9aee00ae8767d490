import LayoverCore
import Testing

struct RequestMethodTests {
    @Test(arguments: [
        ("GET", true, true), ("HEAD", true, true), ("OPTIONS", true, true), ("TRACE", true, true), ("PUT", false, true),
        ("DELETE", false, true), ("POST", false, false), ("PATCH", false, false), ("CONNECT", false, false),
        ("get", false, false), ("QUERY", true, true), ("PROPFIND", false, false), ("GET ", false, false), ("", false, false),
    ])
    func methodsAreSafeOrIdempotent(method: String, isSafe: Bool, isIdempotent: Bool) {
        #expect(RequestMethod.isSafe(method) == isSafe)
        #expect(RequestMethod.isIdempotent(method) == isIdempotent)
    }
}
