extension Schema {
    static let proxyKeys: [Key<Settings>] = [
        key(
            "proxy.publicURL", \.proxy.publicURL, publicURL.orNull, available: .later,
            "The base of the addresses of tickets. null: the address that the client used."),
        key(
            "proxy.listen", \.proxy.listen, .listen(unixAllowed: true),
            "Where clients connect. Port 0 asks for a free one; `unix:/path` is a Unix domain socket."),
        key(
            "proxy.identity", \.proxy.identity, identity,
            "The name in `Via` and `Proxy-Status`."),
        key(
            "proxy.threads", \.proxy.threads, Codec.integer(1...1024).orNull,
            "Event loops, and as many upstream workers. null: one for each core."),
        key(
            "proxy.allowedHosts", \.proxy.allowedHosts, Codec.host.list,
            "Hosts that requests to the proxy itself may name. Ports do not matter. "
                + "The address and port that a connection came to are always allowed."),
        key(
            "proxy.socketMode", \.proxy.socketMode, Codec.permissions.orNull,
            "Permissions of the Unix domain socket. null: as the umask has it."),
        key(
            "proxy.users", \.proxy.users, Codec.texts("object of names and hashes").secrets, available: .later,
            secrecy: .whole, "Users by name, with the hash of their password."),
        key(
            "proxy.connectPorts", \.proxy.connectPorts, Codec.integer(1...65535).list,
            "Ports that clients from outside this machine may CONNECT to."),
        key(
            "proxy.insecureOpen", \.proxy.insecureOpen, .flag,
            "Lets clients from outside this machine in without a user."),
        key(
            "proxy.tls.certificate", \.proxy.tls.certificate, Codec.path.orNull, available: .later,
            "PEM file, for clients that speak TLS to the proxy itself."),
        key(
            "proxy.tls.key", \.proxy.tls.key, Codec.path.orNull, available: .later,
            "PEM file with the key of the certificate."),
    ]

    static let adminKeys: [Key<Settings>] = [
        key(
            "admin.listen", \.admin.listen, .listen(unixAllowed: false),
            "Where the admin API is. Other than loopback needs `admin.token`."),
        key(
            "admin.token", \.admin.token, .secret, secrecy: .whole,
            "The bearer token that every call must carry. null: none is asked for."),
        key(
            "admin.viewToken", \.admin.viewToken, .secret, available: .later, secrecy: .whole,
            "A bearer token for calls that change nothing. null: there is none."),
        key(
            "admin.allowedHosts", \.admin.allowedHosts, Codec.host.list,
            "Hosts that admin requests may name. Ports do not matter."),
    ]

    /// Every client sees it in the address of its ticket.
    private static let publicURL = Codec<String>.plain("URL", isSecret: true) { (text) throws(Refusal) in
        guard try WebAddress.parse(text).userinfo == nil else {
            throw Refusal(message: "a URL with a user name is not taken (clients are shown it)")
        }
        return text
    }

    /// A pseudonym of `Via` (RFC 9110 section 7.6.3) that is also a token of RFC 8941, for
    /// `Proxy-Status`.
    private static let identity = Codec<String>.token("name")
        .allowing(
            { $0.first?.isLetter == true && $0.utf8.count <= 64 },
            orElse: "is not a letter followed by at most 63 others")
}
