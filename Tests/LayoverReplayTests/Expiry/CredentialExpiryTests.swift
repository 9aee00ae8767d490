import Foundation
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverReplay

/// 2026-01-31 23:59:59 UTC.
private let then = 1_769_903_999
/// Before and after `then`: what has expired is told as well.
private let nows = [then - 100_000, then + 100_000]

private func base64URL(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

private func token(_ payload: String) -> String { "\(base64URL(#"{"alg":"none"}"#)).\(base64URL(payload)).c2ln" }

struct CredentialExpiryTests {
    private func expiry(_ lines: String..., target: String = "/", now: Int = then) -> Int? {
        CredentialExpiry.of(target: target, fields: RequestFields(lines), now: now)?.notAfter
    }

    @Test func aRequestWithoutCredentialsHasNoExpiry() {
        #expect(expiry("Accept: */*", "Cookie: a=b", target: "/x?a=b&Expires=1769903999") == nil)
        #expect(expiry("Authorization:", "Authorization: ", "Authorization: Basic YTpi", "DPoP:", "Signature-Input:") == nil)
    }

    // MARK: JWT

    @Test(
        arguments: [
            ("{\"exp\":1769903999}", then), ("{\"sub\":\"????>>>>ÿÿÿÿ~~~~\",\"exp\":1769903999.9}", then),
            ("{\"exp\":1.769903999e9}", then), ("{\"exp\":0}", 0),
            ("{\"exp\":253402300799}", 253_402_300_799), ("{\"exp\":253402300800}", nil), ("{\"exp\":1e400}", nil), ("{\"exp\":-1}", nil),
            ("{\"exp\":99999999999999999999}", nil), ("{\"exp\":null}", nil), ("{\"exp\":\"soon\"}", nil), ("{\"exp\":\"nan\"}", nil),
            ("{\"exp\":true}", nil),
            ("{\"exp\":[1]}", nil), ("{\"iat\":1769903999}", nil), ("{\"a\":{\"exp\":1769903999}}", nil), ("exp", nil), ("", nil),
            ("[1769903999]", nil),
        ] as [(String, Int?)])
    func theClaimExpCounts(payload: String, seconds: Int?) {
        for now in nows {
            #expect(expiry("Authorization: Bearer \(token(payload))", now: now) == seconds)
            #expect(expiry("authorization: bearer  \(token(payload))", now: now) == seconds)
            #expect(expiry("Authorization: DPoP \(token(payload))", now: now) == seconds)
            #expect(expiry("DPoP: \(token(payload))", now: now) == seconds)
        }
    }

    @Test(arguments: [
        "Bearer", "Bearer a.b", "Bearer a.b.c", "Bearer ya29.a0AfH6SMBx-_.x", "Bearer ..", "Bearer a.b.c.d.e",
        "Basic \(token("{\"exp\":1}"))",
        "Bearer \(token("{\"exp\":1}")) x", "Bearer \(token("{\"exp\":1}")).x.y", "Bearer a.%%%.c",
        "Bearer \(token(String(repeating: "[", count: 50_000)))",
        "\(token("{\"exp\":1}"))", "Bearer ~ticket.\(one).json.token~",
    ])
    func otherTokensHaveNoExpiry(value: String) {
        #expect(expiry("Authorization: \(value)") == nil)
    }

    // MARK: AWS Signature Version 4

    private func amazon(_ scope: String, _ algorithm: String = "AWS4-HMAC-SHA256") -> String {
        "Authorization: \(algorithm) Credential=AKIDEXAMPLE/\(scope), SignedHeaders=host;x-amz-date, Signature=0123abcd"
    }

    @Test func amazonSignaturesAreGoodForMinutes() {
        let date = "X-Amz-Date: 20260131T235959Z"
        #expect(expiry(amazon("20260131/us-east-1/s3/aws4_request"), date) == then + 900)
        #expect(expiry(amazon("20260131/us-east-1/s3express/aws4_request"), date) == then + 900)
        #expect(expiry(amazon("20260131/us-east-1/execute-api/aws4_request"), date) == then + 300)
        #expect(expiry(amazon("20260131/s3/aws4_request", "AWS4-ECDSA-P256-SHA256"), date) == then + 900)
        #expect(expiry(amazon("20260131/us-east-1/s3/aws4_request"), "Date: Sat, 31 Jan 2026 23:59:59 GMT") == then + 900)
        #expect(expiry(amazon("20260131/us-east-1/s3/aws4_request"), "date: 20260131T235959Z") == then + 900)
        #expect(expiry(amazon("20260131/us-east-1/s3/aws4_request"), "Date: Sat, 31 Jan 2026 20:00:00 GMT", date) == then + 900)
        #expect(
            expiry("Authorization: AWS4-HMAC-SHA256 SignedHeaders=host,Credential=A/20260131/x/s3/aws4_request,Signature=0", date) == then
                + 900)
    }

    @Test func malformedAmazonSignaturesHaveNoExpiry() {
        let date = "X-Amz-Date: 20260131T235959Z"
        #expect(expiry(amazon("20260131/us-east-1/s3/aws4_request")) == nil)
        #expect(expiry(amazon("20260131/us-east-1/s3/aws4_request"), "X-Amz-Date: yesterday", "Date: Sat, 31 Jan 2026 23:59:59 GMT") == nil)
        #expect(expiry(amazon("20260131/us-east-1/s3/aws4_request"), "X-Amz-Date: 99991231T235959Z") == nil)
        #expect(expiry(amazon(""), date) == nil)
        #expect(expiry(amazon("20260131/us-east-1/s3/other"), date) == nil)
        #expect(expiry(amazon("20260131/us-east-1/s3/aws4_request", "AWS4-HMAC-MD5"), date) == nil)
        #expect(expiry("Authorization: AWS4-HMAC-SHA256", date) == nil)
        #expect(expiry("Authorization: AWS4-HMAC-SHA256 Credential", date) == nil)
        #expect(expiry("Authorization: AWS4-HMAC-SHA256 ,=,,Credential=,", date) == nil)
    }

    // MARK: RFC 9421

    @Test(
        arguments: [
            (#"sig1=("@method" "@target-uri");created=1769900000;expires=1769903999;keyid="x""#, then),
            (#"sig1=("@method");created=1769900000;keyid="x""#, nil), (#"sig1=();expires=1769903999"#, then),
            (#"sig1=() ; expires=1769903999 , b=()"#, then),
            (#"a=();expires=1769909999, b=();expires=1769903999, c=();expires=1769907777"#, then),
            (#"a=("x";expires=5);keyid="expires=6;expires=7\";expires=8";expires=1769903999"#, then),
            (#"a=("(" ")" ",");expires=1769903999"#, then),
            (#"a=();expires="1769903999""#, nil), ("a=();expires=-5", nil), ("a=();expires=1.5", nil), ("a=();expires=", nil),
            ("a=();expires", nil),
            ("a=();expires=99999999999999999999", nil), ("a=();expires=253402300800", nil), ("a=();Expires=1769903999", nil),
            ("a=();xexpires=1769903999", nil),
            (#"a=("x);expires=1769903999"#, nil), ("a=(;expires=1769903999", nil), ("a=);expires=1769903999", nil), (#"a=();k="\"#, nil),
            ("expires=1769903999", nil),
            (";expires=1769903999", then), ("", nil), ("((((", nil),
        ] as [(String, Int?)])
    func messageSignaturesMayExpire(value: String, seconds: Int?) {
        #expect(expiry("Signature-Input: \(value)", "Signature: sig1=:AA==:") == seconds)
    }

    // MARK: Signed URLs

    @Test(
        arguments: [
            // AWS
            (
                "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=A%2F20260131%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20260131T235959Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=ab",
                then + 86_400
            ),
            ("x-amz-algorithm=x&x-amz-date=20260131T235959Z&x-amz-expires=1&x-amz-signature=ab", then + 1),
            ("X-Amz-Algorithm=x&X-Amz-Date=20260131T235959Z&X-Amz-Signature=ab", nil),
            ("X-Amz-Algorithm=x&X-Amz-Date=20260131T235959Z&X-Amz-Expires=1", nil),
            ("X-Amz-Algorithm=x&X-Amz-Date=now&X-Amz-Expires=1&X-Amz-Signature=ab", nil),
            ("X-Amz-Algorithm=x&X-Amz-Date=20260131T235959Z&X-Amz-Expires=-1&X-Amz-Signature=ab", nil),
            ("X-Amz-Algorithm=x&X-Amz-Date=20260131T235959Z&X-Amz-Expires=9223372036854775807&X-Amz-Signature=ab", nil),
            ("X-Amz-Algorithm=x&X-Amz-Date=20260131T235959Z&X-Amz-Expires=92233720368547758070&X-Amz-Signature=ab", nil),
            ("X-Amz-Algorithm=x&X-Amz-Date=20260131T235959Z&X-Amz-Expires=1%zz&X-Amz-Signature=ab", nil),
            // S3 before
            ("AWSAccessKeyId=AKID&Expires=1769903999&Signature=eY9lpX2K%2Fr%3D", then),
            ("AWSAccessKeyId=AKID&Expires=tomorrow&Signature=e", nil),
            ("AWSAccessKeyId=AKID&Expires=&Signature=e", nil), ("Expires=1769903999&Signature=e", nil),
            ("AWSAccessKeyId=AKID&Expires=253402300800&Signature=e", nil),
            // CloudFront
            ("color=red&Expires=1769903999&Signature=nit~_-A&Key-Pair-Id=K2JCJMDEHXQW5F", then), ("Signature=n&Key-Pair-Id=K", nil),
            (
                "Policy=\(cloudFront(#"{"Statement":[{"Resource":"https://x/*?>","Condition":{"DateLessThan":{"AWS:EpochTime":1769903999}}}]}"#))&Signature=n&Key-Pair-Id=K",
                then
            ),
            ("Policy=\(cloudFront(#"{"Statement":[]}"#))&Signature=n&Key-Pair-Id=K", nil), ("Policy=%00&Signature=n&Key-Pair-Id=K", nil),
            // Google
            (
                "X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=x&X-Goog-Date=20260131T235959Z&X-Goog-Expires=900&X-Goog-SignedHeaders=host&X-Goog-Signature=7a",
                then + 900
            ),
            ("X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Date=20260131&X-Goog-Expires=900&X-Goog-Signature=7a", nil),
            ("X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Date=20260131T235959Z&X-Goog-Expires=900", nil),
            ("GoogleAccessId=a%40b&Expires=1769903999&Signature=x", then), ("GoogleAccessId=a%40b&Expires=x&Signature=x", nil),
            // Azure
            ("sv=2015-04-05&ss=bf&st=2026-01-30T22%3A18%3A26Z&se=2026-01-31T23%3A59%3A59Z&sr=b&sp=rw&spr=https&sig=F%2Bx%3D", then),
            ("se=2026-01-31T23:59:59Z&sig=x", then), ("se=2026-01-31&sig=x", then - 86_399), ("se=2026-01-31T23:59:59Z", nil),
            ("sig=x&sv=1", nil), ("se=never&sig=x", nil),
            ("se=2026-02-30&sig=x", nil),
            // The first of several parameters with one name counts; the earliest of all schemes wins.
            ("se=2026-01-31&se=2027-01-31&sig=x", then - 86_399), ("se=2026-01-31&sig=x&AWSAccessKeyId=A&Expires=5&Signature=x", 5),
            ("", nil), ("&&==&", nil), ("%=%&se", nil),
        ] as [(String, Int?)])
    func signedURLsExpire(query: String, seconds: Int?) {
        for now in nows { #expect(expiry(target: "/bucket/key?" + query, now: now) == seconds) }
        // The parameters must be in the query.
        #expect(expiry(target: "/bucket/" + query) == nil)
    }

    private static func cloudFront(_ policy: String) -> String {
        Data(policy.utf8).base64EncodedString().replacing("+", with: "-").replacing("=", with: "_").replacing("/", with: "~")
    }

    @Test func sharedAccessSignaturesInAFieldExpire() {
        let value = "Authorization: SharedAccessSignature sr=https%3A%2F%2Fx.servicebus.windows.net%2F&sig=a%2Bb%3D&se=1769903999&skn=Root"
        #expect(expiry(value) == then)
        #expect(expiry("Authorization: SharedAccessSignature sr=x&sig=x&se=soon") == nil)
        #expect(expiry("Authorization: SharedAccessSignature sr=x&se=1769903999") == nil)
        #expect(expiry("Authorization: SharedAccessSignature") == nil)
    }

    @Test func theEarliestCredentialCounts() throws {
        let fields: RequestFields = [
            "Authorization": "Bearer \(token("{\"exp\":300}"))", "DPoP": token("{\"exp\":200}"), "Signature-Input": "a=();expires=100",
        ]
        let found = try #require(CredentialExpiry.of(target: "/?se=2026-01-31&sig=x", fields: fields, now: then))
        #expect(found.notAfter == 100)
        #expect(found.why == "The message signature expires (parameter expires of the field Signature-Input).")
    }

    @Test func mutatedRequestsDoNotTrap() {
        var generator = SeededGenerator(seed: 4)
        let seeds = [
            "Authorization: Bearer \(token("{\"exp\":1769903999}"))", amazon("20260131/us-east-1/s3/aws4_request"),
            "X-Amz-Date: 20260131T235959Z",
            #"Signature-Input: a=("x";expires=5);keyid="e";expires=1769903999"#, "Date: Sat, 31 Jan 2026 23:59:59 GMT",
        ]
        let query =
            "/?X-Amz-Algorithm=a&X-Amz-Date=20260131T235959Z&X-Amz-Expires=86400&X-Amz-Signature=ab&se=2026-01-31T23%3A59%3A59Z&sig=F&Policy=e30_&Key-Pair-Id=K&Signature=x"
        for _ in 0..<3000 {
            var fields = Array(seeds.joined(separator: "\0").utf8)
            var target = Array(query.utf8)
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                fields[Int.random(in: 0..<fields.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                target[Int.random(in: 0..<target.count, using: &generator)] = UInt8.random(in: 0...127, using: &generator)
            }
            fields.removeLast(Int.random(in: 0..<fields.count, using: &generator))
            let found = CredentialExpiry.of(
                target: String(decoding: target, as: UTF8.self), fields: RequestFields(lines: ByteBuffer(bytes: fields)),
                now: Int.random(in: 0...then, using: &generator))
            #expect(found.map { (0...CredentialExpiry.latest).contains($0.notAfter) } != false)
        }
    }
}
