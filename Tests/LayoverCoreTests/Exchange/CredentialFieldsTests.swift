import LayoverCore
import Testing

struct CredentialFieldsTests {
    /// The digests of what the cache keeps depend on it.
    @Test func theOrderOfRequestFieldsIsFixed() {
        #expect(
            CredentialFields.ofRequests == ["api-key", "authorization", "cookie", "x-access-token", "x-api-key", "x-auth-token"])
    }

    @Test func allCredentialsAreSealedByDefault() {
        #expect(CredentialFields.sealedByDefault.map { $0.lowercased() } == CredentialFields.ofRequests)
    }
}
