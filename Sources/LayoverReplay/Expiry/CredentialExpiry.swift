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
