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
            let answer = ToolRun.run(git, ["config", "--global", "--path", "--get", "http.sslCAInfo"], environment: environment)
            let path = answer.output.split(whereSeparator: \.isNewline).first.map(String.init)
            return answer.status == 0 ? path : nil
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
