/// A private CA and a server certificate of it, made when a test needs them.
package final class TestCertificates: Sendable {
    private let maker: CertificateMaker
    package var caFile: String { maker.caFile }
    package var serverFile: String { maker.path("server.pem") }
    package var serverKeyFile: String { maker.path("server.key") }

    /// - Parameter names: The certificate's subjectAltName, as openssl spells it.
    package init(names: String = "IP:127.0.0.1") throws {
        maker = try CertificateMaker()
        try maker.issue("server", extensions: ["subjectAltName=\(names)"])
    }
}
