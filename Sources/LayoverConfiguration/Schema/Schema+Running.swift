import LayoverCore

extension CredentialFields {
    fileprivate static var textOfSealed: String { sealedByDefault.map { "`\($0)`" }.joined(separator: ", ") }
}

extension Schema {
    static let logKeys: [Key<Settings>] = [
        key("log.level", \.log.level, .word, effect: .atOnce, "Least important level that is logged."),
        key("log.format", \.log.format, .word, "auto: text on a terminal, JSON elsewhere."),
        key(
            "log.access", \.log.access, .word,
            "Access log on standard output, one line per request. combined: Apache's format, and more behind it. json: one object a line."),
    ]

    static let storeKeys: [Key<Settings>] = [
        key(
            "store.path", \.store.path, Codec.path.orNull,
            "Path of the ticket database. null: `layover.sqlite` in `$STATE_DIRECTORY`, else in `$XDG_STATE_HOME/layover`, else in "
                + "`~/.local/state/layover`. Its write-ahead log, lock and key file are beside it."),
        key(
            "store.url", \.store.url, Codec.nonEmpty("URL", isSecret: true).secret.orNull, available: .later,
            secrecy: .urlCredentials,
            "URL of a database shared by several instances, `postgresql://…`. null: the file at `store.path`."),
        key(
            "store.passwordFile", \.store.passwordFile, Codec.path.orNull, available: .later,
            "File with the password for `store.url`."),
        key(
            "store.keyFile", \.store.keyFile, Codec.path.orNull, available: .later,
            "File of the key that encrypts stored secrets. null: `store.key` beside the database."),
        key(
            "store.spool", \.store.spool, Codec.path.orNull,
            "Folder of body files. null: the folder `spool` beside the database."),
        key(
            "store.encryptFields", \.store.listedFields, Codec.token("field name").list.orNull,
            "Fields whose values are stored encrypted; `Cookie` means `Set-Cookie` too. null: \(CredentialFields.textOfSealed), and all "
                + "fields that routes set or add. Clients with different values have separate `Idempotency-Key`s."),
        key(
            "store.history", \.store.history, .lifetime,
            "How long a finished ticket and its response are kept."),
    ]

    static let limitKeys: [Key<Settings>] = [
        key(
            "limits.heldClients", \.limits.heldClients, .integer(1...10_000_000),
            "Maximum number of clients waiting on their connection."),
        key(
            "limits.entries", \.limits.entries, .integer(1...100_000_000),
            "Maximum number of pending requests."),
        key(
            "limits.bodyInMemory", \.limits.bodyInMemory, .byteCount(),
            "Body size kept in memory; larger bodies go to a file."),
        key(
            "limits.bodyMax", \.limits.bodyMax, .byteCount(),
            "Maximum size of a stored body; a larger one is forwarded but cannot be resent."),
        key("limits.spoolTotal", \.limits.spoolTotal, .byteCount(), "Maximum total size of stored bodies, in files and in the store."),
        key(
            "limits.headerBytes", \.limits.headerBytes,
            Codec.byteCount(from: 1 << 10).allowing({ $0 <= 512 << 10 }, orElse: "is more than 512KiB"),
            "Maximum size of a message head, of requests and responses; at most 512KiB, because libcurl sends no head over 1MiB. libcurl "
                + "takes no response head over 300KB and no line of one over 100KB."),
        key(
            "limits.unattended", \.limits.unattended, .integer(1...10_000_000),
            "Maximum number of attempts that go on after their clients have disconnected, because the server may have processed the "
                + "requests. When there are more, the oldest ends."),
        key(
            "limits.cacheRefreshes", \.limits.cacheRefreshes, .integer(1...1_000_000),
            "Maximum number of cached responses refreshed at the same time."),
        key(
            "limits.connections", \.limits.connections, .integer(1...10_000_000),
            "Maximum number of client connections; each HTTP/2 stream counts as one too."),
        key(
            "limits.unsentTotal", \.limits.unsentTotal, Codec.byteCount(from: 1 << 20),
            "Response bytes that may wait for HTTP/2 clients in all. Near it, reading from origins stops, for the largest sessions first."),
        key(
            "limits.perOriginAttempts", \.limits.perOriginAttempts, .integer(1...1_000_000),
            "Maximum number of concurrent attempts per origin. Retries wait for it, new requests do not."),
    ]

    static let timeoutKeys: [Key<Settings>] = [
        key(
            "timeouts.connect", \.timeouts.connect, .timeout, effect: .atOnce,
            "Limit on resolving, connecting and the TLS handshake together."),
        key(
            "timeouts.firstByte", \.timeouts.firstByte, .firstByte, effect: .atOnce,
            "Limit from the end of the request to the response head. null: 5m for tickets, no limit for others. `\"none\"`: no limit."),
        key(
            "timeouts.idle", \.timeouts.idle, Codec.timeout.orNull, effect: .atOnce,
            "Limit between two parts of a response. null: no limit."),
        key(
            "timeouts.deadPeer", \.timeouts.deadPeer, .timeout, effect: .atOnce,
            "Limit on the time in which nothing comes back from a peer that has to answer, not even acknowledgements of probes. A peer "
                + "that only does not read is alive."),
        key("timeouts.requestHead", \.timeouts.requestHead, .timeout, "Limit on receiving the head of a client's request."),
        key(
            "timeouts.requestBody", \.timeouts.requestBody, .timeout,
            "Limit on a pause in the body of a client's request; the client gets a 408. Bytes of the response count, too."),
        key(
            "timeouts.clientIdle", \.timeouts.clientIdle, .timeout,
            "Limit on a client connection between two requests; it is closed without a response."),
        key(
            "timeouts.clientStall", \.timeouts.clientStall, .timeout,
            "Limit on a client that stops reading its response; its connection is reset."),
        key(
            "timeouts.halfClosed", \.timeouts.halfClosed, .timeout,
            "Limit on a client that has closed its sending side and waits for its response, counted while no part of it is sent. On "
                + "Layover's own machine the kernel says whether the client is still there, and there is no limit."),
        key(
            "timeouts.unattended", \.timeouts.unattended, .duration(from: .zero, to: .days(7)), effect: .atOnce,
            "Limit on an attempt that goes on after its client has disconnected, because the server may have processed the request. "
                + "0s: it ends at once."),
        key(
            "timeouts.tunnelIdle", \.timeouts.tunnelIdle, .timeout,
            "Limit on an idle tunnel (`CONNECT`)."),
        key(
            "timeouts.drain", \.timeouts.drain, .duration(from: .zero, to: .days(7)),
            "Time that running attempts have to finish when Layover stops."),
    ]

    static let reachabilityKeys: [Key<Settings>] = [
        key(
            "reachability.mode", \.reachability.mode, .word,
            "auto: detects the network state. online: treats the network as up. offline: sends nothing."),
        key(
            "reachability.probe.url", \.reachability.probe.url, Codec.url.secret.orNull, secrecy: .urlCredentials,
            "URL requested to test the network. null: no probe."),
        key(
            "reachability.probe.expectStatus", \.reachability.probe.expectStatus, .integer(100...599),
            "Expected status; any other means a captive portal."),
        key(
            "reachability.probe.interval", \.reachability.probe.interval,
            .duration(from: .milliseconds(100), to: .days(1)), "Time between two probes."),
        key(
            "reachability.debounce", \.reachability.debounce, .duration(from: .zero, to: .seconds(60)),
            "How long network changes are collected before they take effect; a way where none was does so at once as well."),
    ]

    static let upstreamKeys: [Key<Settings>] = [
        key(
            "upstreamProxy.url", \.upstreamProxy.url, Codec.parentProxy.orNull, secrecy: .urlCredentials,
            "Parent proxy for all requests: `http://`, `https://` or `socks5h://`, with a user name and a password if it wants them "
                + "(percent-encoded). Without a port: 80, 443, 1080. null: none."),
        key(
            "upstreamProxy.noProxy", \.upstreamProxy.noProxy, Codec.parentProxyException.list,
            "Hosts reached without the parent proxy: `example.com` (subdomains included), `*.example.com` (subdomains only), "
                + "`192.0.2.7`, `10.0.0.0/8`, `fd00::/8`, `*`. Without ports; no name is resolved for it."),
        key(
            "tls.caFile", \.tls.caFile, Codec.path.orNull,
            "PEM file of certificate authorities trusted in addition to the system's."),
        key(
            "tls.folder", \.tls.folder, Codec.path.orNull,
            "Folder of the interception certificate authority (`ca.pem`, `ca.key`). null: beside the store."),
    ]

    /// Notifications of incidents and limits.
    static let notifyKeys: [Key<Settings>] = [
        key(
            "notify.webhook", \.notify.webhook, Codec.webhook.secret.orNull, secrecy: .whole, effect: .atOnce,
            "URL that receives a POST when an incident opens, closes or needs a decision, and when a limit is reached. null: none."),
        key(
            "notify.secret", \.notify.secret, .secret, secrecy: .whole, effect: .atOnce,
            "Secret that signs the webhook requests (Standard Webhooks; `whsec_` and base64, or any text). null: not signed."),
        key(
            "notify.command", \.notify.command, Codec<String>.nonEmpty("text", isSecret: true).secret.secretList.orNull,
            secrecy: .whole, effect: .atOnce,
            "Program and arguments, run for the same events with their JSON on standard input. null: none."),
        key(
            "notify.interval", \.notify.interval, .duration(from: .zero, to: .days(1)), effect: .atOnce,
            "Minimum time between two notifications; the events in between are told together."),
    ]
}
