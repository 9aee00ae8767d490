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

/// Authorities that a user named in a tool's own settings, which the tool's variable would override.
enum SettingsFile {
    static func authority(for variable: String, environment: [String: String]) -> String? {
        guard let home = environment.nonempty("HOME") else { return nil }
        switch variable {
        case "npm_config_cafile":
            let file = environment.nonempty("npm_config_userconfig") ?? environment.nonempty("NPM_CONFIG_USERCONFIG") ?? "\(home)/.npmrc"
            return BoundedFile.text(file).flatMap { value("cafile", in: $0) }
        case "GIT_SSL_CAINFO":
            // Only git knows its files; it is not asked where none of the usual ones names an authority.
            let folder = environment.nonempty("XDG_CONFIG_HOME") ?? "\(home)/.config"
            let files = ["\(home)/.gitconfig", "\(folder)/git/config", "/etc/gitconfig"]
            guard files.contains(where: { BoundedFile.text($0)?.lowercased().contains("sslcainfo") == true }),
                let git = ToolRun.find("git", environment: environment)
            else { return nil }
            let run = ToolRun.run(git, ["config", "--global", "--path", "--get", "http.sslCAInfo"], environment: environment)
            let path = run.output.split(whereSeparator: \.isNewline).first.map(String.init)
            return run.status == 0 ? path : nil
        default:
            return nil
        }
    }

    /// The last value of `name = value`; names are compared as wget does: without case, `-` and `_`.
    static func value(_ name: String, in text: String) -> String? {
        func plain(_ text: some StringProtocol) -> String { text.lowercased().filter { !"-_ \t".contains($0) } }
        return text.split(whereSeparator: \.isNewline).last { line in
            line.split(separator: "=", maxSplits: 1).first.map { plain($0) == plain(name) } == true && line.contains("=")
        }.flatMap { line in
            let value = line.drop { $0 != "=" }.dropFirst().drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
            let text = String(value.filter { $0 != "\"" })
            return text.isEmpty ? nil : text
        }
    }
}
