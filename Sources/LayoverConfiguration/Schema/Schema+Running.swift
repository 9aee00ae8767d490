extension Schema {
    static let logKeys: [Key<Settings>] = [
        key("log.level", \.log.level, .word, effect: .atOnce, "Less important lines are left out."),
        key("log.format", \.log.format, .word, "auto: text on a terminal, JSON elsewhere."),
        key("log.access", \.log.access, .word, available: .later, "One line for each exchange."),
    ]

    static let storeKeys: [Key<Settings>] = [
        key(
            "store.path", \.store.path, .path,
            "The database of tickets. Its log, its lock and its key file lie beside it."),
        key(
            "store.url", \.store.url, Codec.nonEmpty("URL", isSecret: true).secret.orNull, available: .later,
            secrecy: .urlCredentials,
            "`postgresql://…`: a database that several instances share. null: the one at `store.path`."),
        key(
            "store.passwordFile", \.store.passwordFile, Codec.path.orNull, available: .later,
            "File with the password for `store.url`."),
        key(
            "store.keyFile", \.store.keyFile, Codec.path.orNull, available: .later,
            "The key that secrets are encrypted with. null: `store.key` beside the database."),
        key(
            "store.spool", \.store.spool, Codec.path.orNull,
            "The folder of body files. null: the folder `spool` beside the database."),
        key(
            "store.encryptFields", \.store.encryptFields, Codec.token("field name").list,
            "Fields whose values are stored encrypted; `Cookie` means `Set-Cookie` too. "
                + "They also say whose an `Idempotency-Key` is."),
        key(
            "store.history", \.store.history, .lifetime,
            "How long an ended ticket stays known; its answer can be collected until then."),
    ]

    static let limitKeys: [Key<Settings>] = [
        key(
            "limits.heldClients", \.limits.heldClients, .integer(1...10_000_000),
            "Most clients that wait on their connection at the same time."),
        key(
            "limits.entries", \.limits.entries, .integer(1...100_000_000),
            "Most entries of the pending set."),
        key(
            "limits.bodyInMemory", \.limits.bodyInMemory, .byteCount(),
            "Bytes of a body that stay in memory; more goes to a file."),
        key(
            "limits.bodyMax", \.limits.bodyMax, .byteCount(),
            "Most bytes of a body that are captured; a longer one passes but cannot be sent again."),
        key("limits.spoolTotal", \.limits.spoolTotal, .byteCount(), "Most bytes of all bodies that are kept, in files or in the store."),
        key(
            "limits.headerBytes", \.limits.headerBytes,
            Codec.byteCount(from: 1 << 10).allowing({ $0 <= 512 << 10 }, orElse: "is more than 512KiB"),
            "Most bytes of the head of a message; at most 512KiB, as libcurl sends no head of more than 1MiB."),
        key(
            "limits.cacheRefreshes", \.limits.cacheRefreshes, .integer(1...1_000_000), available: .later,
            "Most answers of the cache that are asked for anew at the same time."),
        key("limits.connections", \.limits.connections, .integer(1...10_000_000), "Most client connections."),
        key(
            "limits.perOriginAttempts", \.limits.perOriginAttempts, .integer(1...1_000_000),
            "Most attempts in flight for one origin before replays wait; fresh requests never do."),
    ]

    static let timeoutKeys: [Key<Settings>] = [
        key(
            "timeouts.connect", \.timeouts.connect, .timeout, effect: .atOnce,
            "Resolving, connecting and the TLS handshake together."),
        key(
            "timeouts.firstByte", \.timeouts.firstByte, Codec.timeout.orNull.orNone, effect: .atOnce,
            "From the end of the request to the head of the answer. null: no limit. `\"none\"`: the same."),
        key(
            "timeouts.idle", \.timeouts.idle, Codec.timeout.orNull, effect: .atOnce,
            "Between two pieces of an answer. null: no limit."),
        key(
            "timeouts.deadPeer", \.timeouts.deadPeer, .timeout, effect: .atOnce,
            "Until unacknowledged bytes end a connection (`TCP_USER_TIMEOUT`)."),
        key("timeouts.requestHead", \.timeouts.requestHead, .timeout, "For the head of a client's request."),
        key(
            "timeouts.clientIdle", \.timeouts.clientIdle, .timeout,
            "For a kept connection without a request; it is closed silently."),
        key(
            "timeouts.clientStall", \.timeouts.clientStall, .timeout,
            "For a client that takes nothing of its answer; its connection is reset."),
        key(
            "timeouts.tunnelIdle", \.timeouts.tunnelIdle, .timeout,
            "For a tunnel (`CONNECT`) that carries nothing in either direction."),
        key(
            "timeouts.drain", \.timeouts.drain, .duration(from: .zero, to: .days(7)),
            "What attempts in flight get when Layover is told to stop."),
    ]

    static let reachabilityKeys: [Key<Settings>] = [
        key(
            "reachability.mode", \.reachability.mode, .word,
            "auto: by the network's own signs. online: ignores them. offline: nothing is sent."),
        key(
            "reachability.probe.url", \.reachability.probe.url, Codec.url.secret.orNull, secrecy: .urlCredentials,
            "Asked to see whether the network works. null: no probe."),
        key(
            "reachability.probe.expectStatus", \.reachability.probe.expectStatus, .integer(100...599),
            "Any other status means a captive portal."),
        key(
            "reachability.probe.interval", \.reachability.probe.interval,
            .duration(from: .milliseconds(100), to: .days(1)), "Between two probes."),
        key(
            "reachability.debounce", \.reachability.debounce, .duration(from: .zero, to: .seconds(60)),
            "How long signs of a change are gathered before they count as one."),
    ]

    static let upstreamKeys: [Key<Settings>] = [
        key(
            "upstreamProxy.url", \.upstreamProxy.url, Codec.nonEmpty("URL", isSecret: true).secret.orNull,
            available: .later,
            secrecy: .urlCredentials, "The proxy that upstreams are reached through."),
        key(
            "upstreamProxy.noProxy", \.upstreamProxy.noProxy, Codec.nonEmpty("host").list, available: .later,
            "Hosts that are reached without it."),
        key(
            "tls.caFile", \.tls.caFile, Codec.path.orNull,
            "PEM file of authorities trusted upstream besides the system's."),
        key(
            "tls.folder", \.tls.folder, Codec.path.orNull, available: .later,
            "The folder of the interception authority. null: beside the store."),
    ]

    /// Messages about incidents.
    static let notifyKeys: [Key<Settings>] = [
        key(
            "notify.webhook", \.notify.webhook, Codec.url.secret.orNull, available: .later, secrecy: .whole,
            "Gets a POST for each incident. null: none."),
        key(
            "notify.secret", \.notify.secret, .secret, available: .later, secrecy: .whole,
            "What these requests are signed with (Standard Webhooks)."),
        key(
            "notify.command", \.notify.command, Codec<String>.nonEmpty("text", isSecret: true).secret.secretList.orNull,
            available: .later, secrecy: .whole,
            "A program and its arguments, run for each incident with JSON on its standard input. null: none."),
        key(
            "notify.interval", \.notify.interval, .duration(from: .zero, to: .days(1)), available: .later,
            "Least time between two messages."),
    ]
}
