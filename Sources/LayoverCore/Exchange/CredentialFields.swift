/// The names of the fields that carry credentials.
///
/// Two rules differ on purpose. What a route writes counts as a credential wherever its name only sounds like a secret
/// (`mayBeOne`): being too careful costs nothing there, nor where fields are shown. The fields that `Connection` may not nominate and that
/// trailers may not hold (`KnownField`) are those of the standards alone, and others that frame and route.
package enum CredentialFields {
    /// Fields by which a client proves itself to an origin, in lower case. In the order in which the cache digests them: another
    /// order would be another digest, and what is kept on disk would not be found.
    package static let ofRequests = ["api-key", "authorization", "cookie", "x-access-token", "x-api-key", "x-auth-token"]

    /// The field by which a client proves itself to this proxy, in lower case. It goes neither upstream nor to the disk.
    package static let ofProxy = "proxy-authorization"

    /// The field in which an origin sends values for `Cookie`, in lower case.
    package static let ofResponses = "set-cookie"

    /// Fields that the store seals by default (`store.encryptFields`): the same as `ofRequests`. The name `Cookie` means `Set-Cookie`
    /// too. Fields that routes set or add are also sealed.
    package static let sealedByDefault = ["Api-Key", "Authorization", "Cookie", "X-Access-Token", "X-Api-Key", "X-Auth-Token"]

    /// Whether the value of the field may let its holder in somewhere. Wider than the lists above on purpose: hiding one value
    /// too many does no harm.
    package static func mayBeOne(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "token", "key", "secret", "password", "credential", "session", "signature", "jwt", "assertion"]
            .contains { name.contains($0) }
    }
}
