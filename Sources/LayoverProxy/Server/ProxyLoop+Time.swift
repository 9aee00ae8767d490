import LayoverCore
import LayoverEngine
import LayoverReplay
import NIOCore

#if canImport(Glibc)
import Glibc
#endif

extension ProxyLoop {
    /// Seconds since 1970.
    var wallSeconds: Int { time(nil) }

    /// Nanoseconds since 1970.
    func wall(_ timestamp: Timestamp) -> Int64 { engine.clock.wallNanoseconds(of: timestamp) }

    /// When the credentials of a request expire; nil if they name no time.
    func credentialExpiry(of request: UpstreamRequest) -> Timestamp? {
        let wall = wallSeconds
        guard
            let expiry = CredentialExpiry.of(target: request.target, fields: request.fields, now: wall)
        else { return nil }
        return engine.clock.now() + .seconds(expiry.notAfter - wall)
    }

    /// An honest guess of when it is worth while to ask again, in seconds. At least 1.
    func secondsUntil(_ timestamp: Timestamp?) -> Int {
        guard let timestamp else { return Self.askAgainAfter }
        return max(1, Int((timestamp - engine.clock.now()).inSeconds.rounded(.up)))
    }

    /// Seconds after which to ask again where nothing better is known. Default: 5.
    private static let askAgainAfter = 5
}

/// How long clients may take. Each is one tick longer than configured, because deadlines count from the tick before.
struct ClientTimeouts {
    let idle: TimeAmount
    let requestHead: TimeAmount
    let requestBody: TimeAmount
    let stall: TimeAmount
    let tunnelIdle: TimeAmount
    let halfClosed: TimeAmount

    init(_ configuration: ProxyConfiguration) {
        idle = TimeAmount(configuration.clientIdleTimeout) + .seconds(1)
        requestHead = TimeAmount(configuration.requestHeadTimeout) + .seconds(1)
        requestBody = TimeAmount(configuration.requestBodyTimeout) + .seconds(1)
        stall = TimeAmount(configuration.clientStallTimeout) + .seconds(1)
        tunnelIdle = TimeAmount(configuration.tunnelIdleTimeout) + .seconds(1)
        halfClosed = TimeAmount(configuration.halfClosedTimeout) + .seconds(1)
    }
}
