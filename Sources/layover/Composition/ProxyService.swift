import Foundation
import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverProxy
import LayoverTLS
import Logging
import NIOCore
import ServiceLifecycle

/// Runs the proxy port until it has to stop, then drains it.
struct ProxyService: Service {
    let server: ProxyServer
    let engine: Engine
    let store: (any PendingStore)?
    let cache: OpenedCache
    let drainMax: Duration
    let isDraining: DrainState
    let logger: Logger

    func run() async throws {
        try await gracefulShutdown()
        logger.info("draining", metadata: ["limit": "\(drainMax)"])
        isDraining.begin()
        let begun = ContinuousClock.now
        let reports = Task { try await reportProgress(since: begun) }
        await engine.drain()
        await server.drain(within: drainMax)
        await engine.waitForStore()
        await cache.current?.close()
        await store?.close()
        reports.cancel()
        logger.info("drained", metadata: ["seconds": "\(Self.seconds(since: begun))"])
    }

    /// How often a line says what the end waits for. Default: 2 s.
    private static let reportInterval: Duration = .seconds(2)

    private func reportProgress(since begun: ContinuousClock.Instant) async throws {
        while true {
            try await Task.sleep(for: Self.reportInterval)
            let counts = await engine.counts()
            logger.info(
                "draining: waiting for what is under way",
                metadata: [
                    "connections": "\(server.openConnectionCount)", "attempting": "\(counts[.attempting] ?? 0)",
                    "seconds": "\(Self.seconds(since: begun))", "limit": "\(drainMax)",
                ])
        }
    }

    private static func seconds(since begun: ContinuousClock.Instant) -> Int { Int((ContinuousClock.now - begun).components.seconds) }
}

extension ProxyService: CustomStringConvertible {
    /// Only the name: ServiceLifecycle logs services, and the whole struct would fill the log.
    var description: String { "ProxyService" }
}

/// The certificate by which clients speak TLS to the proxy port (`proxy.tls`), read from its files at the start and at each reload.
struct ListenerIdentity: Sendable {
    let certificate: String
    let key: String

    /// Nil: no certificate is configured, and clients speak without TLS.
    init?(_ settings: Settings) {
        guard let certificate = settings.proxy.tls.certificate, let key = settings.proxy.tls.key else { return nil }
        (self.certificate, self.key) = (certificate, key)
    }

    /// Serves new connections by what the files say now.
    ///
    /// - Throws: `CertificateError`; the loops go on with what they have.
    func use(on loops: [ProxyLoop], logger: Logger) async throws {
        let identity = try TLSServerContext(certificate: certificate, key: key, supportsHTTP2: false)
        if identity.notAfter < Int(Date().timeIntervalSince1970) {
            logger.warning("the certificate of the proxy port has expired", metadata: ["file": "\(certificate)"])
        }
        for loop in loops { try await loop.use(identity).get() }
    }
}
