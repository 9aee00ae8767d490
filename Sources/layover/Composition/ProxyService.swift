import LayoverConfiguration
import LayoverEngine
import LayoverProxy
import Logging
import ServiceLifecycle

/// Runs the proxy port until it is told to stop, then drains it.
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
        await engine.drain()
        await server.drain(within: drainMax)
        await engine.settled()
        await cache.current?.close()
        await store?.close()
    }
}

extension ProxyService: CustomStringConvertible {
    /// A name only: what runs services logs them, and the whole struct is of no use there.
    var description: String { "ProxyService" }
}
