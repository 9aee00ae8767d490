import Foundation
import LayoverTLS
import LayoverTestSupport
import Testing

@testable import LayoverTrust

struct ShellTrustTests {
    @Test func certificatesOfAllVariablesAreJoinedWithThoseOfTheFile() async throws {
        let folder = try TemporaryFolder()
        let (first, second, own) = (try await Certificate.fixture(), try await Certificate.fixture(), try await Certificate.fixture())
        let system = try #require(SystemBundle.certificates().first)
        let one = try folder.write(PEM.text(of: system) + first.pem, to: "one.pem")
        let two = try folder.write(second.pem + first.pem, to: "two.pem")
        let caFile = try folder.write(own.pem, to: "own.pem")
        let trust = ShellTrust(
            environment: ["SSL_CERT_FILE": one, "NODE_EXTRA_CA_CERTS": two, "CURL_CA_BUNDLE": caFile, "REQUESTS_CA_BUNDLE": ""], caFile: caFile)
        #expect(trust.variables == ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"])
        #expect(trust.names == "SSL_CERT_FILE and NODE_EXTRA_CA_CERTS")
        #expect(trust.certificates == [first.der, second.der])
        #expect(PEM.certificates(in: Array(trust.text.utf8)) == [own.der, first.der, second.der])
    }

    @Test func variablesThatNameNothingNewAreNotListed() async throws {
        let folder = try TemporaryFolder()
        let bundle = try folder.write(SystemBundle.certificates().prefix(3).map(PEM.text).joined(), to: "bundle.pem")
        for path in [bundle, "/no/such/file", try folder.write("nonsense", to: "text")] {
            #expect(ShellTrust(environment: ["SSL_CERT_FILE": path], caFile: nil).variables.isEmpty, "\(path)")
        }
        #expect(ShellTrust(environment: [:], caFile: nil).variables.isEmpty)
    }
}
