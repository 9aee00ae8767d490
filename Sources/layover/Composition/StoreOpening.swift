import ArgumentParser
import LayoverConfiguration
import LayoverEngine
import LayoverStore
import Logging

/// Opens the store, or says why there are no tickets in this run.
struct StoreOpening {
    let settings: Settings
    let spool: BodySpool
    let logger: Logger

    /// - Returns: Nil where the disk forbids it: requests go through and wait all the same, but none is accepted as
    ///   a ticket.
    /// - Throws: `ExitCode` when going on could lose or double what was accepted before: the file is damaged, or
    ///   another process has it.
    func open() throws -> SQLiteStore? {
        var options = StoreOptions(settings.store)
        options.bodyRemoved = { [spool] in spool.removedStored($0) }
        options.logger = logger
        do throws(StoreFailure) {
            return try SQLiteStore.open(options: options)
        } catch {
            switch error.kind {
            case .full, .readOnly, .io:
                logger.error(
                    "no tickets are accepted in this run",
                    metadata: ["store": "\(settings.store.path)", "error": "\(error)"])
                return nil
            case .corrupt, .locked, .closed, .other:
                StandardError.write("error: store.path: \(error.message)")
                throw ExitCode(1)
            }
        }
    }
}
