package import LayoverHTTP

/// Until when a request's own credentials are good, as far as they say so themselves.
///
/// Nothing is verified and nothing refused: what cannot be read says nothing. Services allow for clocks that differ,
/// so a request may still be taken a little later.
package struct CredentialExpiry: Sendable, Hashable {
    /// Seconds since 1970 in UTC. From then on the credentials are worth nothing. Perhaps already past.
    package var notAfter: Int
    /// Which credential says so: a complete sentence without secrets.
    package var why: String

    /// The latest moment that is believed: the end of the year 9999. What is later is a mistake, or means never.
    static let latest = 253_402_300_799

    /// Nil when the moment is not in 1970 to 9999.
    init?(_ notAfter: Int, _ why: String) {
        guard (0...Self.latest).contains(notAfter) else { return nil }
        self.notAfter = notAfter
        self.why = why
    }

    /// The earliest expiry of all credentials that the request carries; nil if no credential names one.
    ///
    /// - Parameters:
    ///   - target: Path and query.
    ///   - now: Wall clock, seconds since 1970. Only to understand a date with a year of two digits.
    package static func of(target: String, fields: RequestFields, now: Int) -> CredentialExpiry? {
        let query = QueryParameters(target: target)
        let all: [CredentialExpiry?] = [
            SignedURL.amazon(query), SignedURL.amazonVersion2(query), SignedURL.cloudFront(query),
            SignedURL.google(query), SignedURL.googleVersion2(query), SignedURL.azure(query),
        ]
        let lines = CredentialLines(fields)
        let found =
            all
            + lines.authorization.flatMap { value -> [CredentialExpiry?] in
                [
                    WebToken.authorization(value), SharedAccessSignature.authorization(value),
                    AmazonSignature.authorization(value, lines, now: now),
                ]
            } + lines.proofs.map(WebToken.proof) + lines.signatureInputs.map(MessageSignature.expiry)
        return found.compactMap(\.self).min { $0.notAfter < $1.notAfter }
    }
}

/// The fields in which credentials and their dates stand.
struct CredentialLines {
    private(set) var authorization: [String] = []
    /// DPoP (RFC 9449 section 4).
    private(set) var proofs: [String] = []
    /// Signature-Input (RFC 9421 section 4.1).
    private(set) var signatureInputs: [String] = []
    private(set) var amazonDate: String?
    private(set) var date: String?

    init(_ fields: RequestFields) {
        for field in fields {
            switch field.name.lowercased() {
            case "authorization": authorization.append(field.text)
            case "dpop": proofs.append(field.text)
            case "signature-input": signatureInputs.append(field.text)
            case "x-amz-date": amazonDate = field.text
            case "date": date = field.text
            default: break
            }
        }
    }
}

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

/// `Authorization: SharedAccessSignature sr=…&sig=…&se=…&skn=…` of Azure Service Bus, Event Hubs and IoT Hub.
/// `se` is in seconds since 1970.
///
/// - SeeAlso: learn.microsoft.com/azure/service-bus-messaging/service-bus-sas
enum SharedAccessSignature {
    static func authorization(_ value: String) -> CredentialExpiry? {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "sharedaccesssignature" else { return nil }
        let parameters = QueryParameters(pairs: words[1])
        guard parameters.has("sig"), let expires = parameters.number("se") else { return nil }
        return CredentialExpiry(expires, "The shared access signature in the field Authorization expires (se).")
    }
}
