import Testing

@testable import LayoverConfiguration

@Suite struct InterceptionTests {
    @Test func aRouteInterceptsItsHostAndNoOther() throws {
        let routes = try load(#"{"routes": {"a": {"host": "*.example.com", "intercept": true}, "b": {"host": "b.test"}}}"#).settings.routes
        #expect(routes.hasInterceptions)
        #expect(routes.intercepts("www.example.com"))
        #expect(!routes.intercepts("example.com"))
        #expect(!routes.intercepts("b.test"))
    }
}
