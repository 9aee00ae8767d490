import ArgumentParser
import Foundation
import LayoverConfiguration
import LayoverCore
import LayoverEngine
import LayoverStore
import Logging

/// Opens the store, at the start and, where the disk forbids that, later.
struct StoreOpening {
    let settings: Settings
    let spool: BodySpool
    let logger: Logger

    /// - Returns: A `LateStore` where the disk forbids it: requests go through and wait all the same, but none is
    ///   accepted as a ticket before it can be opened.
    /// - Throws: `ExitCode` when going on could lose or double what was accepted before: the file is damaged, or
    ///   another process has it.
    func openAtStart() throws -> any PendingStore {
        do throws(StoreFailure) {
            return try open()
        } catch {
            switch error.kind {
            case .full, .readOnly, .io:
                logger.error(
                    "cannot open the store; tickets are refused until it opens",
                    metadata: ["store": "\(settings.store.path)", "error": "\(error)"])
                return LateStore(error)
            case .corrupt, .locked, .closed, .other:
                StandardError.write("error: store.path: \(error.message)")
                throw ExitCode(1)
            }
        }
    }

    /// Opens it. Blocks.
    func open() throws(StoreFailure) -> SQLiteStore {
        var options = StoreOptions(settings.store)
        options.bodyRemoved = { [spool] in spool.removedStored($0) }
        options.logger = logger
        let store = try SQLiteStore.open(options: options)
        // The one thing that a start writes. Whoever asks again during this boot only reads.
        let clock = SystemClock()
        let now = clock.now()
        _ = try store.clock(
            bootID: Self.bootID, proposal: clock.wallNanoseconds(of: now) &- now.nanoseconds, now: now)
        spool.countStored(store.bodyByteCountAtStart)
        return store
    }

    /// What tells this boot of the machine from others (random(4)).
    static let bootID = ((try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? "")
        .trimmingCharacters(in: .whitespacesAndNewlines)
}
