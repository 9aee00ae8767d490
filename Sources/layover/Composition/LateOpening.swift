import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverProxy
import LayoverStore
import Logging
import NIOPosix
import ServiceLifecycle

/// Opens a store that could not be opened at the start as soon as the disk lets it: what an earlier run left goes on,
/// and tickets are accepted from then on.
///
/// A process that runs is not ended by what it finds then, such as a damaged file or one that another process has: it
/// says so, and goes on trying.
struct LateOpening: Service {
    /// How long after a failure the store is opened again. Default: 5 s.
    private static let pause: Duration = .seconds(5)

    let parts: ProxyParts
    let place: LateStore

    func run() async throws {
        // Ends with the proxy, and not before: a service that is done ends all others.
        try? await cancelWhenGracefulShutdown {
            var failure = place.condition.failure
            while true {
                try await Task.sleep(for: Self.pause)
                guard let new = await tryAgain() else { break }
                if new != failure { tell(new) }
                failure = new
            }
        }
        try await gracefulShutdown()
    }

    /// - Returns: Why it is still not open; nil: it is, or the proxy is being stopped.
    private func tryAgain() async -> StoreFailure? {
        let result = await open()
        switch result {
        case .failure(let failure):
            place.stillMissing(failure)
            for loop in parts.loops { loop.acceptTickets(unless: failure) }
            return failure
        case .success(let store):
            return await takeOver(store)
        }
    }

    private func open() async -> Result<SQLiteStore, StoreFailure> {
        do {
            return try await NIOThreadPool.singleton.runIfActive { [opening = parts.storeOpening] in
                do throws(StoreFailure) { return .success(try opening.open()) } catch { return .failure(error) }
            }
        } catch { return .failure(StoreFailure(.closed, "The proxy is stopping.")) }
    }

    private func takeOver(_ store: SQLiteStore) async -> StoreFailure? {
        do throws(StoreFailure) {
            guard try await parts.engine.restore(from: store, openedLate: place, bootID: StoreOpening.bootID) else {
                await close(store)
                return nil
            }
        } catch {
            await close(store)
            place.stillMissing(error)
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

    private func tell(_ failure: StoreFailure) {
        parts.logger.error("the store still cannot be opened", metadata: ["error": "\(failure)"])
    }
}

extension LateOpening: CustomStringConvertible {
    /// A name only: what runs services logs them, and the whole struct, settings included, is of no use there.
    var description: String { "LateOpening" }
}
