import Testing

@testable import LayoverCore

@Suite struct SecretTests {
    private struct Holder {
        var name = "admin"
        var secret: Secret? = "hush"
        var fields: [String: Secret] = ["Authorization": "hush"]
    }

    @Test func aSecretPrintsAsItsMask() {
        let secret: Secret = "hush"
        #expect("\(secret)" == "•••")
        #expect(String(describing: secret) == "•••")
        #expect(String(reflecting: secret) == "•••")
        #expect(secret.revealed == "hush")
    }

    @Test func reflectionFindsNothingInASecret() {
        #expect(Mirror(reflecting: "hush" as Secret).children.isEmpty)
        var dumped = ""
        dump("hush" as Secret, to: &dumped)
        #expect(dumped == "- •••\n")
    }

    @Test func valuesWithASecretPrintWithoutIt() {
        var dumped = ""
        dump(Holder(), to: &dumped)
        for text in ["\(Holder())", String(reflecting: Holder()), dumped] {
            #expect(text.contains("admin"))
            #expect(text.contains("•••"))
            #expect(!text.contains("hush"))
        }
    }

    @Test func aFieldOfARoutePrintsWithoutItsValue() {
        var route = Route(name: "api", policy: .standard)
        route.setFields = [.init(name: "Authorization", value: "Bearer hush")]
        route.addFields = [.init(name: "X-Own", value: "hush")]
        #expect("\(route)".contains("Authorization"))
        #expect(!"\(route)".contains("hush"))
    }

    @Test func secretsAreEqualByTheirText() {
        #expect(Secret("a") == Secret("a"))
        #expect(Secret("a") != Secret("b"))
    }
}
