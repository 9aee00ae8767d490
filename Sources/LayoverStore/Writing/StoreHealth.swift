import LayoverEngine
import Logging
import Synchronization

/// Remembers the last failure until a group of changes is committed whole.
final class StoreHealth: Sendable {
    static let closed = StoreFailure(.closed, "The store is closed.")

    private let failure = Mutex<StoreFailure?>(nil)

    var lastFailure: StoreFailure? { failure.withLock { $0 } }

    func note(_ results: [Result<[StoreResult], StoreFailure>], _ logger: Logger) {
        var failure: StoreFailure?
        for case .failure(let new) in results { failure = new }
        note(failure, logger)
    }

    /// One line when it begins, and one when it is over: not one for every ticket on a full disk.
    func note(_ new: StoreFailure?, _ logger: Logger) {
        let old = failure.withLock { failure in
            defer { failure = new }
            return failure
        }
        if let new, new.kind == .other {
            logger.error("the store refused a change", metadata: ["error": "\(new)"])
        } else if let new, old?.kind != new.kind {
            logger.error("the store does not take changes", metadata: ["error": "\(new)"])
        } else if new == nil, let old, old.kind != .other {
            logger.notice("the store takes changes again")
        }
    }
}
