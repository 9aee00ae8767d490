import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverProxy
import LayoverStore
import Logging
import NIOPosix
import ServiceLifecycle

/// Opens a store that could not be opened at the start as soon as the disk allows it. Then the tickets of an earlier run
/// are resumed, and new ones are accepted.
///
/// An error at that time, such as a damaged file or one that another process has, does not end the running process: it is
/// logged, and opening is tried again.
struct StoreReopening: Service {
    /// Pause before the store is opened again. Default: 5 s.
    private static let pause: Duration = .seconds(5)

    let parts: ProxyParts
    let standIn: UnavailableStore

    func run() async throws {
        // Runs until the proxy stops: the end of a service ends all others.
        try? await cancelWhenGracefulShutdown {
            var failure = standIn.condition.failure
            while true {
                try await Task.sleep(for: Self.pause)
                guard let new = await tryAgain() else { break }
                if new != failure { log(new) }
                failure = new
            }
        }
        try await gracefulShutdown()
    }

    /// - Returns: Why the store is still not open; nil: it is open, or the proxy is being stopped.
    private func tryAgain() async -> StoreFailure? {
        let result = await open()
        switch result {
        case .failure(let failure):
            standIn.openingFailed(failure)
            for loop in parts.loops { loop.acceptTickets(unless: failure) }
            return failure
        case .success(let store):
            return await restoreTickets(from: store)
        }
    }

    private func open() async -> Result<SQLiteStore, StoreFailure> {
        do {
            return try await NIOThreadPool.singleton.runIfActive { [opening = parts.storeOpening] in
                do throws(StoreFailure) { return .success(try opening.open()) } catch { return .failure(error) }
            }
        } catch { return .failure(StoreFailure(.closed, "The proxy is stopping.")) }
    }

    private func restoreTickets(from store: SQLiteStore) async -> StoreFailure? {
        do throws(StoreFailure) {
            guard try await parts.engine.restore(from: store, replacing: standIn, bootID: StoreOpening.bootID) else {
                await close(store)
                return nil
            }
        } catch {
            await close(store)
            standIn.openingFailed(error)
            return error
        }
        for loop in parts.loops { loop.acceptTickets(unless: nil) }
        parts.logger.notice("store opened; tickets are accepted")
        await parts.engine.keepHistory(for: parts.settings.store.history)
        return nil
    }

    private func close(_ store: SQLiteStore) async {
        await store.close()
        parts.spool.removedStored(store.bodyByteCountAtStart)
    }

    private func log(_ failure: StoreFailure) {
        parts.logger.error("the store still cannot be opened", metadata: ["error": "\(failure)"])
    }
}

extension StoreReopening: CustomStringConvertible {
    /// Only the name: ServiceLifecycle logs services, and the whole struct holds the settings.
    var description: String { "StoreReopening" }
}
