import Testing

@testable import LayoverConfiguration

@Suite struct NearestNameTests {
    private let names = ["listen", "identity", "threads", "allowedHosts", "tls"]

    @Test(arguments: [
        ("listne", "listen"), ("Threads", "threads"), ("allowHosts", "allowedHosts"),
        ("identiti", "identity"),
        ("tsl", "tls"), ("lis", "tls"),
    ])
    func theNearestIsSuggested(name: String, expected: String) {
        #expect(NearestName.of(name, among: names) == expected)
    }

    @Test(arguments: ["", "x", "colour", "somethingElse"])
    func nothingIsSuggestedWhenNothingIsNear(name: String) {
        #expect(NearestName.of(name, among: names) == nil)
    }
}
