import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverProxy

/// Converts settings to the configuration of the proxy.
extension ProxyConfiguration {
    init(_ settings: Settings, installation: String) {
        self.init()
        identity = settings.proxy.identity
        viaIdentity = "\(settings.proxy.identity)-\(installation)"
        reloadable = ReloadableConfiguration(settings)
        allowedHosts = Set(settings.proxy.allowedHosts.map(Self.bare))
        if let publicURL = settings.proxy.publicURL {
            publicBase = publicURL.base
            // Clients that follow the address of their ticket name this host.
            allowedHosts.insert(publicURL.origin.host)
        }
        connectPorts = Set(settings.proxy.connectPorts)
        framing = FramingLimits(settings.limits)
        body.inMemoryMax = settings.limits.bodyInMemory
        body.byteCountMax = settings.limits.bodyMax
        connectionCountMax = settings.limits.connections
        offersTickets = settings.store.isOnDisk
        identityFields = settings.store.encryptFields
        requestHeadTimeout = settings.timeouts.requestHead
        requestBodyTimeout = settings.timeouts.requestBody
        clientIdleTimeout = settings.timeouts.clientIdle
        clientStallTimeout = settings.timeouts.clientStall
        halfClosedTimeout = settings.timeouts.halfClosed
        tunnelIdleTimeout = settings.timeouts.tunnelIdle
    }

    /// A host in the form of the parser: an IPv6 literal has no brackets.
    private static func bare(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}

extension ReloadableConfiguration {
    init(_ settings: Settings) {
        self.init()
        routes = settings.routes
        users = settings.proxy.users
        attempt.connect = settings.timeouts.connect
        attempt.firstByte = settings.timeouts.firstByte.held
        ticketFirstByte = settings.timeouts.firstByte.ticket
        attempt.idle = settings.timeouts.idle
        attempt.deadPeer = settings.timeouts.deadPeer
    }
}

/// The same for the requests of clients and the responses of origins, whatever the way to the origin.
extension FramingLimits {
    init(_ limits: Limits) {
        self.init()
        headByteCountMax = limits.headerBytes
    }
}

extension PendingLimits {
    init(_ limits: Limits) {
        self.init()
        entryCountMax = limits.entries
        heldClientCountMax = limits.heldClients
        unattendedCountMax = limits.unattended
        perOriginAttemptCountMax = limits.perOriginAttempts
    }
}

extension Settings {
    /// Whether the proxy speaks TLS to origins in place of clients, so that its trust counts instead of theirs.
    var verifiesOrigins: Bool {
        routes.hasInterceptions || routes.routes.contains { $0.upstream?.origin.scheme == .https }
    }
}
