import LayoverConfiguration
import LayoverEngine
import LayoverProxy
import Logging
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
        await engine.drain()
        await server.drain(within: drainMax)
        await engine.waitForStore()
        await cache.current?.close()
        await store?.close()
    }
}

extension ProxyService: CustomStringConvertible {
    /// Only the name: ServiceLifecycle logs services, and the whole struct would fill the log.
    var description: String { "ProxyService" }
}
