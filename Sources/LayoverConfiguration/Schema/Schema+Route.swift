import LayoverCore

extension Schema {
    static let routeKeys: [Key<RouteSettings>] = [
        routeKey(
            "host", \.host, Codec.hostPattern.orNull,
            "`api.example.com`, or `*.example.com` for all subdomains. null: every host."),
        routeKey("pathPrefix", \.pathPrefix, pathPrefix, "Beginning of the paths that the route matches."),
        routeKey("methods", \.methods, methods.orNull, "Methods that the route matches, in upper case. null: every method."),
        routeKey("policy", \.policy, .nonEmpty("name"), "Name of the policy."),
        routeKey(
            "upstream", \.upstream, Codec.upstream.orNull, secrecy: .urlCredentials,
            "Target of `/.layover/route/<name>/…` and, with a `host`, of all requests that the route matches. null: no other target."),
        routeKey(
            "setFields", \.setFields, Codec.fields.secrets, secrecy: .credentialFields,
            "Fields set on the request; they replace the client's."),
        routeKey(
            "addFields", \.addFields, Codec.fields.secrets, secrecy: .credentialFields,
            "Fields added to the request, beside the client's."),
        routeKey("removeFields", \.removeFields, Codec.removableField.list, "Fields removed from the request."),
        routeKey(
            "intercept", \.intercept, .flag,
            "Whether CONNECT to the route's `host`, which is required, is intercepted: Layover serves TLS with a certificate of its own "
                + "authority and reads the requests."),
        routeKey(
            "interceptFallback", \.interceptFallback, .flag,
            "Whether a client's connections to the intercepted `host` become tunnels for an hour once it has rejected Layover's "
                + "certificate. The connection that was rejected is lost; the client has to come again."),
        routeKey(
            "unclosedTLS", \.unclosedTLS, .word,
            "What an HTTP/2 client of an intercepted host gets of a response without a length whose server ends TLS without close_notify. "
                + "cut: a reset stream. accept: a complete response. HTTP/1.1 clients get the same ending as from the server."),
        routeKey(
            "timeouts.connect", \.timeouts.connect, Codec.timeout.orNull, "null: as `timeouts.connect`."),
        routeKey(
            "timeouts.firstByte", \.timeouts.firstByte, Codec.timeout.orNull,
            "null: as `timeouts.firstByte`."),
        routeKey("timeouts.idle", \.timeouts.idle, Codec.timeout.orNull, "null: as `timeouts.idle`."),
        routeKey(
            "timeouts.deadPeer", \.timeouts.deadPeer, Codec.timeout.orNull, "null: as `timeouts.deadPeer`."),
        routeKey(
            "async", \.async, Codec.asyncRule.orNull,
            "Who honours `Prefer: respond-async`. null: as `async` of the policy."),
        routeKey(
            "http2", \.http2, .flag,
            "Offers HTTP/2 to the origin, by libcurl's transfers. An origin without it, and one without TLS, gets HTTP/1.1."),
        routeKey(
            "allowAddresses", \.allowAddresses, Codec.network.list,
            "Link-local and metadata addresses that the proxy may connect to: addresses or address/prefix."),
        routeKey(
            "key", \.key, Codec.routeKey.secret.orNull, secrecy: .whole,
            "Key required in requests: `/.layover/route/<name>/~<key>/…` or the field `Layover-Key`. A route that sets "
                + "credentials requires one if `proxy.listen` is not on loopback. null: no key."),
        routeKey(
            "upstreamProxy", \.upstreamProxy, Codec.way.orNull, secrecy: .urlCredentials,
            "Parent proxy for this route, whatever `upstreamProxy.noProxy` says; `direct`: none. null: as `upstreamProxy.url`."),
    ]

    private static let methods = method.list
        .allowing({ !$0.isEmpty }, orElse: "lists no method (omit the key to match every method)")

    /// Methods are case-sensitive (RFC 9110 section 9.1), and all registered ones are upper case: a route for `get` would match nothing.
    private static let method = Codec<String>.plain("method") { (text) throws(Refusal) in
        _ = try Codec<String>.token("method").read(.text(text))
        guard text == text.uppercased() else {
            let shown = JSONValue.text(text).excerpt
            throw Refusal(message: "\(shown) matches no request, because method names are upper case (write \(text.uppercased()))")
        }
        return text
    }

    private static let pathPrefix = Codec<String>.plain("path") { (text) throws(Refusal) in
        let isPath = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3F && $0 != 0x23 }
        guard text.hasPrefix("/"), isPath else {
            throw Refusal(message: "\(JSONValue.text(text).excerpt) is not a path that begins with /")
        }
        return text
    }
}
