package import LayoverCore
package import LayoverEngine
package import LayoverHTTP
package import LayoverSystem

/// What all loops of the listener go by: one immutable snapshot of the configuration.
package struct ProxyConfiguration: Sendable {
    /// Identity in `Proxy-Status`. Default: `layover`.
    package var identity = "layover"
    /// Identity in `Via`, made once per installation; only exactly this one means a loop.
    package var viaIdentity = "layover"
    package var routes = RouteTable()
    /// The base before the path of a ticket's address, the scheme included. Nil: the address where the client reached us. Default: nil.
    package var publicBase: String?
    /// Hosts by which a client may address the proxy itself, lower case, without port.
    package var allowedHosts: Set<String> = ["localhost", "127.0.0.1", "::1"]
    /// Ports to which clients that are not on loopback may CONNECT. Default: 443, 8443, 22.
    package var connectPorts: Set<Int> = [443, 8443, 22]
    /// The password hashes of the users, by name. Default: empty, so that everybody may use the proxy.
    package var users: [String: PasswordHash] = [:]
    package var framing = FramingLimits()
    package var body = CapturedBody.Limits()
    /// Most client connections at a time. Default: 10 000.
    package var connectionCountMax = 10_000
    package var attempt = AttemptTimeouts()
    /// The limit for the response head of a ticket, for which no client decides how long it waits. Nil: no limit. Default: 5 minutes.
    package var ticketFirstByte: Duration? = .seconds(300)
    /// Why no ticket can be accepted, as the store is not open; nil: the store is open. Default: the proxy runs without a store.
    package var noTickets: StoreFailure? = StoreFailure(.closed, "This proxy runs without a store.")
    /// Whether requests with a lane wait, because the store is to be opened later and may have tickets that come before them.
    /// Default: false.
    package var keepsLanesWaiting = false
    /// False: a request that asks for a ticket waits with its client instead, as RFC 7240 allows. Default: true.
    package var offersTickets = true
    /// Names of fields by which a client says who it is, besides those that always do: no client gets the ticket of another
    /// by its `Idempotency-Key`. Default: none.
    package var identityFields: [String] = []
    /// From the first byte of a head to its last. Then 408. Default: 30 s.
    package var requestHeadTimeout: Duration = .seconds(30)
    /// Between two bytes of a body that we are ready to read, while no response is written either. Then 408. Default: 10 minutes.
    package var requestBodyTimeout: Duration = .seconds(600)
    /// Between requests. Default: 60 s.
    package var clientIdleTimeout: Duration = .seconds(60)
    /// How long a client may take nothing of a response that waits for it. Default: 15 minutes.
    package var clientStallTimeout: Duration = .seconds(15 * 60)
    /// How long a client on another machine may wait for its response after its FIN. Default: 30 s.
    package var halfClosedTimeout: Duration = .seconds(30)
    /// How long a tunnel may carry nothing. Default: 2 hours and 4 minutes.
    package var tunnelIdleTimeout: Duration = .seconds(124 * 60)

    package init() {}

    /// The part that a reload changes.
    package var reloadable: ReloadableConfiguration {
        get {
            var configuration = ReloadableConfiguration()
            (configuration.routes, configuration.attempt, configuration.ticketFirstByte, configuration.users) = (
                routes, attempt, ticketFirstByte, users
            )
            return configuration
        }
        set {
            (routes, attempt, users) = (newValue.routes, newValue.attempt, newValue.users)
            ticketFirstByte = newValue.ticketFirstByte
        }
    }

    var storesTickets: Bool { noTickets == nil }

    /// The field line of the proxy in responses.
    var viaLine: [UInt8] { Array("Via: 1.1 \(viaIdentity)\r\n".utf8) }
}

/// The part of `ProxyConfiguration` that a reload changes at once. All else needs a restart.
///
/// A key of the schema with the effect `atOnce` that belongs to the proxy is read here, and no other key is
/// (`ReloadableConfigurationTests`).
package struct ReloadableConfiguration: Sendable {
    package var routes = RouteTable()
    package var attempt = AttemptTimeouts()
    package var ticketFirstByte: Duration? = .seconds(300)
    package var users: [String: PasswordHash] = [:]

    package init() {}
}
