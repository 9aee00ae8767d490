/// `JAVA_TOOL_OPTIONS`: Java reads no variables for proxies, and none for authorities.
///
/// Layover's options follow those that were there before, after a mark. If an option occurs twice, the later one counts. A JVM reports on
/// standard error that it picked the options up.
///
/// - SeeAlso: "Java Networking and Proxies"; JSSE Reference Guide, "Customizing the Default Key Stores and Trust Stores".
package struct JavaOptions: Sendable {
    package static let name = "JAVA_TOOL_OPTIONS"
    private static let mark = "-Dlayover.env=1"
    private static let ownNames = [
        "http.proxyHost", "http.proxyPort", "https.proxyHost", "https.proxyPort", "http.nonProxyHosts",
        "javax.net.ssl.trustStore", "javax.net.ssl.trustStoreType",
    ]

    private let host: String
    private let port: String
    private let noProxy: String?
    private let trustStore: String?

    /// Nil: the URL is no `http:` one, which is the only kind of proxy that Java knows by these properties.
    ///
    /// - Parameters:
    ///   - noProxy: The variable `no_proxy`. Nil: every host is reached through the proxy, as with other programs.
    ///   - trustStore: A file of `JavaTrustStoreFile`. Nil: authorities stay as they are.
    package init?(proxyURL: String, noProxy: String?, trustStore: String? = nil) {
        guard
            let match = proxyURL.wholeMatch(
                of: #/http://(?:[^@/]*@)?(\[[0-9a-fA-F:.%]+\]|[^:/@\[\]\s]+)(?::([0-9]+))?/?/#)
        else { return nil }
        host = String(match.output.1).trimming("[", "]")
        port = match.output.2.map(String.init) ?? "80"
        self.noProxy = noProxy
        self.trustStore = trustStore
    }

    private func words(trustStore: String?) -> [String] {
        var words = [Self.mark]
        for scheme in ["http", "https"] { words += ["-D\(scheme).proxyHost=\(host)", "-D\(scheme).proxyPort=\(port)"] }
        // Empty means none. Without the property, Java would not ask the proxy for hosts on this machine.
        words.append("-Dhttp.nonProxyHosts=\(Self.nonProxyHosts(noProxy))")
        if let trustStore { words += ["-Djavax.net.ssl.trustStore=\(trustStore)", "-Djavax.net.ssl.trustStoreType=PKCS12"] }
        return words.map(Self.quoted)
    }

    /// The value with the options, after those that are there.
    package func added(to value: String?) -> String {
        let before = Self.without(value)
        // A shell that trusts the authority goes on to do so when only the proxy is set.
        let kept = before == value ? nil : Self.property("javax.net.ssl.trustStore", in: value)
        return ([before].compactMap(\.self) + words(trustStore: trustStore ?? kept)).joined(separator: " ")
    }

    /// The value as it was before. Nil: unset.
    package static func without(_ value: String?) -> String? {
        guard let value, let range = value.firstRange(of: mark) else { return value }
        let own = split(String(value[range.lowerBound...])).drop { word in
            word == mark || ownNames.contains { word.hasPrefix("-D\($0)=") }
        }
        let rest = [String(value[..<range.lowerBound]).trimming(" ")] + own.map(quoted)
        let text = rest.filter { !$0.isEmpty }.joined(separator: " ")
        return text.isEmpty ? nil : text
    }

    /// The value of a property, the last one.
    static func property(_ name: String, in value: String?) -> String? {
        split(value ?? "").last { $0.hasPrefix("-D\(name)=") }.map { String($0.dropFirst(name.utf8.count + 3)) }
    }

    /// The patterns of Java for the entries of `no_proxy`. It knows no networks and no ports.
    static func nonProxyHosts(_ noProxy: String?) -> String {
        (noProxy ?? "").split { ", \t".contains($0) }.flatMap { entry -> [String] in
            guard !entry.contains("/") else { return [] }
            var name = String(entry)
            // A port behind a name or an IPv4 address; an IPv6 address has more colons.
            if name.split(separator: ":").count == 2, let colon = name.firstIndex(of: ":") { name = String(name[..<colon]) }
            if name.hasPrefix("*.") { name = String(name.dropFirst(1)) }
            guard name != "*", !name.isEmpty else { return [name].filter { !$0.isEmpty } }
            if name.hasPrefix(".") { return ["*\(name)"] }
            let isAddress = name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." }
            return isAddress ? [name] : [name, "*.\(name)"]
        }.joined(separator: "|")
    }

    // MARK: Words

    /// The JVM takes white space as the end of a word, outside of either kind of quote (arguments.cpp, `parse_options_buffer`).
    private static func quoted(_ word: String) -> String {
        guard word.contains(where: { $0.isWhitespace || $0 == "'" || $0 == "\"" }) else { return word }
        return word.contains("\"") ? "'\(word)'" : "\"\(word)\""
    }

    private static func split(_ text: String) -> [String] {
        var (words, word, quote): ([String], String?, Character?) = ([], nil, nil)
        for character in text {
            if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                (quote, word) = (character, word ?? "")
            } else if quote == nil, character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap(\.self)
    }
}

extension String {
    fileprivate func trimming(_ characters: Character...) -> String {
        String(drop { characters.contains($0) }.reversed().drop { characters.contains($0) }.reversed())
    }
}
