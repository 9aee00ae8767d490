import ArgumentParser
import Foundation
import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverStore
import Logging

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
        guard settings.store.isKept else {
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
