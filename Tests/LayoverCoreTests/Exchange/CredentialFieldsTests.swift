import LayoverCore
import Testing

struct CredentialFieldsTests {
    /// The digests of what the cache keeps depend on it.
    @Test func theOrderOfRequestFieldsIsFixed() {
        #expect(
            CredentialFields.ofRequests == ["api-key", "authorization", "cookie", "x-access-token", "x-api-key", "x-auth-token"])
    }

    @Test func fieldsSealedByDefaultAreCredentials() {
        #expect(CredentialFields.sealedByDefault.allSatisfy { CredentialFields.ofRequests.contains($0.lowercased()) })
    }
}
