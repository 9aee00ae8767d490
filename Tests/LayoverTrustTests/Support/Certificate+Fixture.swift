import LayoverTLS
import LayoverTestSupport
import LayoverTrust
import Testing

extension Certificate {
    /// The certificate of a new authority, made by openssl.
    static func fixture(in folder: TemporaryFolder = try! TemporaryFolder()) async throws -> Certificate {
        try #require(Certificate(file: try await TestAuthority(in: folder).certificate))
    }
}
