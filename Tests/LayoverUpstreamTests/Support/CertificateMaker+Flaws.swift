import LayoverTestSupport

extension CertificateMaker {
    private static let here = "subjectAltName=IP:127.0.0.1"

    /// - Returns: Certificate and key of a server, and further arguments for `openssl s_server`.
    func files(of flaw: CertificateTests.Flaw) throws -> (certificate: String, key: String, arguments: [String]) {
        var arguments: [String] = []
        switch flaw {
        case .expired: try issue("server", extensions: [Self.here], validity: ("20200101000000Z", "20200201000000Z"))
        case .notYetValid: try issue("server", extensions: [Self.here], validity: ("20900101000000Z", "20910101000000Z"))
        case .otherHost: try issue("server", extensions: ["subjectAltName=DNS:elsewhere.example,IP:127.0.0.2"])
        case .onlyCommonName: try issue("server", subject: "/CN=127.0.0.1", extensions: ["keyUsage=digitalSignature"])
        case .selfSigned: try makeRoot("server", subject: "/CN=server", extensions: [Self.here])
        case .unknownCA:
            try makeRoot("other", subject: "/CN=Another CA")
            try issue("server", by: "other", extensions: [Self.here])
        case .missingIntermediate:
            try makeIntermediate()
            try issue("server", by: "middle", extensions: [Self.here])
        case .weakKey:
            try issue("server", extensions: [Self.here], key: .weak)
            arguments = ["-cipher", "DEFAULT:@SECLEVEL=0"]
        case .weakDigest:
            try issue("server", extensions: [Self.here], digest: "-sha1")
            arguments = ["-cipher", "DEFAULT:@SECLEVEL=0"]
        case .forClientsOnly: try issue("server", extensions: [Self.here, "extendedKeyUsage=clientAuth"])
        case .issuedByALeaf:
            try issue("leaf", subject: "/CN=leaf", extensions: ["basicConstraints=critical,CA:FALSE", "keyUsage=digitalSignature"])
            try issue("server", by: "leaf", extensions: [Self.here])
            arguments = ["-cert_chain", path("leaf.pem")]
        }
        return (path("server.pem"), path("server.key"), arguments)
    }

    func filesOfAChain() throws -> (certificate: String, key: String, arguments: [String]) {
        try makeIntermediate()
        try issue("server", by: "middle", extensions: [Self.here])
        return (path("server.pem"), path("server.key"), ["-cert_chain", path("middle.pem")])
    }

    private func makeIntermediate() throws {
        try issue("middle", subject: "/CN=Layover test intermediate", extensions: ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"])
    }
}
