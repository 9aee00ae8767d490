import LayoverCore

extension Schema {
    static let routeKeys: [Key<RouteSettings>] = [
        routeKey(
            "host", \.host, Codec.hostPattern.orNull,
            "`api.example.com`, or `*.example.com` for every name below. null: every host."),
        routeKey("pathPrefix", \.pathPrefix, pathPrefix, "The beginning of the path."),
        routeKey("methods", \.methods, methods.orNull, "null: every method."),
        routeKey("policy", \.policy, .nonEmpty("name"), "The name of the policy."),
        routeKey(
            "upstream", \.upstream, Codec.upstream.orNull, secrecy: .urlCredentials,
            "Where `/.layover/route/<name>/…` goes, and, with a `host`, whatever the route matches. null: the route only matches."),
        routeKey(
            "setFields", \.setFields, Codec.fields.secrets, secrecy: .credentialFields,
            "Fields that replace what the client sent."),
        routeKey(
            "addFields", \.addFields, Codec.fields.secrets, secrecy: .credentialFields,
            "Fields that come beside what the client sent."),
        routeKey("removeFields", \.removeFields, Codec.removableField.list, "Fields that are not forwarded."),
        routeKey("intercept", \.intercept, .flag, available: .later, "Looks into CONNECT tunnels."),
        routeKey(
            "interceptFallback", \.interceptFallback, .flag, available: .later,
            "Relays the tunnel where interception fails."),
        routeKey(
            "timeouts.connect", \.timeouts.connect, Codec.timeout.orNull, "null: as `timeouts.connect`."),
        routeKey(
            "timeouts.firstByte", \.timeouts.firstByte, Codec.timeout.orNull,
            "null: as `timeouts.firstByte`."),
        routeKey("timeouts.idle", \.timeouts.idle, Codec.timeout.orNull, "null: as `timeouts.idle`."),
        routeKey(
            "timeouts.deadPeer", \.timeouts.deadPeer, Codec.timeout.orNull, "null: as `timeouts.deadPeer`."),
        routeKey(
            "async", \.async, .flag,
            "Whether `Prefer: respond-async` brings a ticket. false: `Prefer` is passed on untouched."
        ),
        routeKey("http2", \.http2, .flag, available: .later, "Speaks HTTP/2 upstream."),
        routeKey(
            "allowAddresses", \.allowAddresses, Codec.network.list,
            "Link-local and metadata addresses that may be reached: addresses or address/prefix."),
        routeKey(
            "key", \.key, Codec.routeKey.secret.orNull, secrecy: .whole,
            "What a request must give: `/.layover/route/<name>/~<key>/…` or the field `Layover-Key`. A route that sets "
                + "credentials needs one where `proxy.listen` is not on loopback. null: nothing."),
        routeKey(
            "upstreamProxy", \.upstreamProxy, Codec.nonEmpty("URL", isSecret: true).secret.orNull, available: .later,
            secrecy: .urlCredentials, "The proxy that its upstream is reached through. null: as `upstreamProxy.url`."),
    ]

    private static let methods = Codec<String>.token("method").list
        .allowing({ !$0.isEmpty }, orElse: "names no method (leave it out for every method)")

    private static let pathPrefix = Codec<String>.plain("path") { (text) throws(Refusal) in
        let isPath = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3F && $0 != 0x23 }
        guard text.hasPrefix("/"), isPath else {
            throw Refusal(message: "\(JSONValue.text(text).excerpt) is not a path that begins with /")
        }
        return text
    }
}
