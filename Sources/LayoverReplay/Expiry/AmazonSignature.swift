import LayoverHTTP
import LayoverText

/// AWS Signature Version 4 in the field Authorization: good for some minutes after the moment of signing.
enum AmazonSignature {
    /// S3 takes a request within 15 minutes of its time stamp
    /// (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html).
    static let storageSecondsMax = 15 * 60

    /// "In most cases, a request must reach AWS within five minutes of the time stamp"
    /// (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html).
    static let otherSecondsMax = 5 * 60

    /// - Parameter lines: X-Amz-Date is looked at first, then Date
    ///   (docs.aws.amazon.com/general/latest/gr/sigv4-date-handling.html).
    static func authorization(_ value: String, _ lines: CredentialLines, now: Int) -> CredentialExpiry? {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0] == "AWS4-HMAC-SHA256" || words[0] == "AWS4-ECDSA-P256-SHA256",
            let service = service(of: words[1]), let signedAt = signedAt(lines, now: now)
        else { return nil }
        let seconds = service.hasPrefix("s3") ? storageSecondsMax : otherSecondsMax
        let (notAfter, overflow) = signedAt.addingReportingOverflow(seconds)
        guard !overflow else { return nil }
        return CredentialExpiry(
            notAfter, "The AWS signature in the field Authorization is good for \(seconds / 60) minutes after it was made.")
    }

    private static func signedAt(_ lines: CredentialLines, now: Int) -> Int? {
        if let date = lines.amazonDate { return ISO8601Time.basicSeconds(date) }
        guard let date = lines.date else { return nil }
        return ISO8601Time.basicSeconds(date) ?? HTTPDate.seconds(date, now: now)
    }

    /// From `Credential=<key>/<day>/<region>/<service>/aws4_request`. With the ECDSA algorithm there is no region.
    private static func service(of parameters: Substring) -> Substring? {
        for parameter in parameters.split(separator: ",") {
            let words = parameter.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard words.count == 2, words[0] == "Credential" else { continue }
            let scope = words[1].split(separator: "/", omittingEmptySubsequences: false)
            guard scope.count >= 4, scope.last?.drop(while: { $0 == " " }).hasPrefix("aws4_request") == true else { return nil }
            return scope[scope.count - 2]
        }
        return nil
    }
}
