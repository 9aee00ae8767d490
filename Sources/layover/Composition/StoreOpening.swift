import ArgumentParser
import Foundation
import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverProxy
import LayoverStore
import Logging
import NIOPosix
import ServiceLifecycle

/// Opens the store, at the start or, if that fails because of the disk, later.
struct StoreOpening {
    let settings: Settings
    let spool: BodySpool
    let logger: Logger
    let routeFields = SealedFields()

    /// - Returns: An `UnavailableStore` if the disk is full, read-only or broken: requests are sent and held as usual, but none
    ///   is accepted as a ticket before the store opens.
    /// - Throws: `ExitCode` when a start could lose or double accepted tickets: the file is damaged, or another process
    ///   has it.
    func openAtStart() throws -> any PendingStore {
        guard settings.store.isOnDisk else {
            return UnavailableStore(
                StoreFailure(.closed, "The private proxy of layover exec accepts no tickets."), opensLater: false)
        }
        do throws(StoreFailure) {
            return try open()
        } catch {
            switch error.kind {
            case .full, .readOnly, .io:
                logger.error(
                    "cannot open the store; tickets are refused until it opens",
                    metadata: ["store": "\(settings.store.file)", "error": "\(error)"])
                return UnavailableStore(error)
            case .corrupt, .locked, .closed, .other:
                StandardError.error("store.path: \(error.message)")
                throw ExitCode(1)
            }
        }
    }

    /// Opens it. Blocks.
    func open() throws(StoreFailure) -> SQLiteStore {
        routeFields.add(from: settings)
        var options = StoreOptions(settings.store, routeFields: routeFields)
        options.bodyRemoved = { [spool] in spool.removedStored($0) }
        options.logger = logger
        let store = try SQLiteStore.open(options: options)
        // The only write of a start. Later calls during this boot only read.
        let clock = SystemClock()
        let now = clock.now()
        _ = try store.clock(
            bootID: Self.bootID, proposal: clock.wallNanoseconds(of: now) &- now.nanoseconds, now: now)
        spool.countStored(store.bodyByteCountAtStart)
        return store
    }

    /// Identifies this boot of the machine (random(4)).
    static let bootID = ((try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? "")
        .trimmingCharacters(in: .whitespacesAndNewlines)
}

extension StoreOptions {
    init(_ settings: StoreSettings, routeFields: SealedFields = .init()) {
        self.init(path: settings.file, spoolFolder: settings.spoolFolder)
        encryptFields = settings.encryptFields
        self.routeFields = routeFields
    }
}

extension SealedFields {
    /// Adds what the routes set or add, where the operator has not named the fields that are sealed.
    func add(from settings: Settings) {
        if settings.store.encryptsRouteFields { add(settings.routes.writtenFields) }
    }
}

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
