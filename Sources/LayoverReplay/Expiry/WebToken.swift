/// JSON Web Tokens. Their signatures are none of our business.
enum WebToken {
    /// `Authorization: Bearer <JWT>` (RFC 6750 section 2.1) or `Authorization: DPoP <JWT>` (RFC 9449 section 7.1).
    static func authorization(_ value: String) -> CredentialExpiry? {
        let words = value.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, ["bearer", "dpop"].contains(words[0].lowercased()) else { return nil }
        return expiry(of: words[1], "The access token in the field Authorization expires (claim exp of the JWT).")
    }

    /// The field DPoP. A proof usually has no `exp`; for how long after its `iat` it is taken is for the server to say
    /// (RFC 9449 section 11.1), so then there is nothing to know.
    static func proof(_ value: String) -> CredentialExpiry? {
        expiry(of: value[...], "The proof in the field DPoP expires (claim exp of the JWT).")
    }

    /// The claim `exp`: "on or after which the JWT MUST NOT be accepted" (RFC 7519 section 4.1.4). A number that may
    /// have a fraction (section 2).
    private static func expiry(of token: Substring, _ why: String) -> CredentialExpiry? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        // Five parts are an encrypted one, which says nothing to us (RFC 7516 section 3).
        guard parts.count == 3, let payload = Base64Text.decodeURLSafe(parts[1]),
            let text = JSONText.scalar(at: ["exp"], in: payload), let exp = Double(text),
            exp >= 0, exp <= Double(CredentialExpiry.latest)
        else { return nil }
        return CredentialExpiry(Int(exp), why)
    }
}
