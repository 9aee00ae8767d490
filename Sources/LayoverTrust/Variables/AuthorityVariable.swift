/// A variable by which programs are told of authorities.
package struct AuthorityVariable: Sendable {
    /// What its file means to the programs that read it.
    enum Effect: Sendable {
        /// It is trusted in addition to what the program trusts anyway.
        case adds
        /// Nothing else is trusted.
        case replaces
    }

    package let name: String
    let effect: Effect
    /// The variables that the same programs read if this one is unset, the first one first.
    let otherwise: [String]

    private init(_ name: String, _ effect: Effect, otherwise: [String] = []) {
        (self.name, self.effect, self.otherwise) = (name, effect, otherwise)
    }

    private static func replacing(_ name: String, otherwise: [String] = []) -> AuthorityVariable {
        AuthorityVariable(name, .replaces, otherwise: otherwise + (name == system ? [] : [system]))
    }

    private static let system = "SSL_CERT_FILE"

    /// Every variable that `env --ca` sets, but for those that name a file of settings.
    package static let all: [AuthorityVariable] = [
        AuthorityVariable("NODE_EXTRA_CA_CERTS", .adds), AuthorityVariable("DENO_CERT", .adds),
        // OpenSSL, and with it Ruby, PHP and urllib; Go; rustls-native-certs, and with it uv.
        replacing(system),
        replacing("CURL_CA_BUNDLE"),
        replacing("REQUESTS_CA_BUNDLE", otherwise: ["CURL_CA_BUNDLE"]),
        replacing("PIP_CERT", otherwise: ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]),
        replacing("AWS_CA_BUNDLE", otherwise: ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]),
        replacing("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"), replacing("HTTPLIB2_CA_CERTS"),
        replacing("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"),
        replacing("GIT_SSL_CAINFO"),
        replacing("CARGO_HTTP_CAINFO"),
        replacing("npm_config_cafile", otherwise: ["NPM_CONFIG_CAFILE"]),
        replacing("BUNDLE_SSL_CA_CERT"), replacing("COMPOSER_CAFILE"), replacing("HEX_CACERTS_PATH"),
        replacing("PERL_LWP_SSL_CA_FILE"), replacing("MOJO_CA_FILE"),
        replacing("NIX_SSL_CERT_FILE"), replacing("JULIA_SSL_CA_ROOTS_PATH"),
    ]
}
