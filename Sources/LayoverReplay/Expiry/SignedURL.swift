import LayoverText

/// URLs that carry their own permission in their query. The names of parameters are compared without regard to case.
enum SignedURL {
    /// AWS Signature Version 4: good for `X-Amz-Expires` seconds after `X-Amz-Date`.
    ///
    /// - SeeAlso: docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
    static func amazon(_ query: QueryParameters) -> CredentialExpiry? {
        guard query.has("x-amz-algorithm", "x-amz-signature") else { return nil }
        return expiry(
            of: query["x-amz-date"], for: query.number("x-amz-expires"),
            "The presigned AWS URL expires (X-Amz-Date and X-Amz-Expires).")
    }

    /// S3 before version 4: `Expires` in seconds since 1970.
    ///
    /// - SeeAlso: docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html, "Query string request authentication"
    static func amazonVersion2(_ query: QueryParameters) -> CredentialExpiry? {
        guard query.has("awsaccesskeyid", "signature"), let expires = query.number("expires") else { return nil }
        return CredentialExpiry(expires, "The presigned S3 URL expires (Expires).")
    }

    /// CloudFront: `Expires` with a canned policy, `DateLessThan` in a policy of one's own.
    ///
    /// - SeeAlso: docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-signed-urls.html
    static func cloudFront(_ query: QueryParameters) -> CredentialExpiry? {
        guard query.has("key-pair-id", "signature") else { return nil }
        if let expires = query.number("expires") {
            return CredentialExpiry(expires, "The signed CloudFront URL expires (Expires).")
        }
        let keys = ["Statement", "0", "Condition", "DateLessThan", "AWS:EpochTime"]
        guard let policy = query["policy"], let text = Base64Text.decodeCloudFront(policy),
            let end = JSONText.scalar(at: keys, in: text).flatMap(DigitText.number)
        else { return nil }
        return CredentialExpiry(end, "The signed CloudFront URL expires (DateLessThan of its policy).")
    }

    /// Google Cloud Storage, V4: good for `X-Goog-Expires` seconds after `X-Goog-Date`.
    ///
    /// - SeeAlso: cloud.google.com/storage/docs/authentication/canonical-requests
    static func google(_ query: QueryParameters) -> CredentialExpiry? {
        guard query.has("x-goog-algorithm", "x-goog-signature") else { return nil }
        return expiry(
            of: query["x-goog-date"], for: query.number("x-goog-expires"),
            "The signed Google Cloud Storage URL expires (X-Goog-Date and X-Goog-Expires).")
    }

    /// Google Cloud Storage, V2: `Expires` in seconds since 1970.
    ///
    /// - SeeAlso: cloud.google.com/storage/docs/access-control/signed-urls-v2
    static func googleVersion2(_ query: QueryParameters) -> CredentialExpiry? {
        guard query.has("googleaccessid", "signature"), let expires = query.number("expires") else { return nil }
        return CredentialExpiry(expires, "The signed Google Cloud Storage URL expires (Expires).")
    }

    /// A shared access signature of Azure Storage: `se`. One that names a stored access policy may have none.
    ///
    /// - SeeAlso: learn.microsoft.com/rest/api/storageservices/create-service-sas
    static func azure(_ query: QueryParameters) -> CredentialExpiry? {
        guard query.has("sig"), let expires = query["se"].flatMap(ISO8601Time.extendedSeconds) else { return nil }
        return CredentialExpiry(expires, "The Azure shared access signature expires (se).")
    }

    private static func expiry(of date: String?, for seconds: Int?, _ why: String) -> CredentialExpiry? {
        guard let seconds, let signedAt = date.flatMap(ISO8601Time.basicSeconds) else { return nil }
        let (notAfter, overflow) = signedAt.addingReportingOverflow(seconds)
        return overflow ? nil : CredentialExpiry(notAfter, why)
    }
}
