import GRDB
import GRDBSQLite
import LayoverCore
import LayoverEngine

/// Commits groups of calls on the one connection that writes. Confined to the writer's thread.
///
/// A failed COMMIT is not the end of it: when only the sync failed, the frames are in the log, complete and with
/// good checksums, and would be found after a crash. So a tiny transaction follows, which takes their place in
/// the log. If that one stands, nothing of the failed group will ever be seen. If it fails too, the failure says
/// `mayBeStored`.
final class GroupWriter {
    /// The result of a group.
    struct Outcome {
        /// One for each call, in order.
        var results: [Result<[StoreResult], StoreFailure>] = []
        /// Bodies that are no longer needed.
        var released: [SpoolFolder.Released] = []
    }

    private enum Step {
        case committed
        /// `call`: the index of the call that failed; nil: the begin or the end of the transaction failed.
        case failed(StoreFailure, call: Int?)
    }

    private let changes: ChangeWriter
    private let begin: Statement
    private let end: Statement
    private let undo: Statement
    private let replaceFailedGroup: Statement
    private let folder: String

    init(_ db: Database, sealing: FieldSealing, folder: String) throws {
        changes = try ChangeWriter(db, sealing: sealing)
        begin = try db.makeStatement(sql: "BEGIN IMMEDIATE")
        end = try db.makeStatement(sql: "COMMIT")
        undo = try db.makeStatement(sql: "ROLLBACK")
        replaceFailedGroup = try db.makeStatement(sql: "UPDATE facts SET settlings = settlings + 1")
        self.folder = folder
    }

    func commit(_ calls: ArraySlice<ChangesCall>, _ db: Database) -> Outcome {
        var outcome = Outcome()
        var rest = calls
        while !rest.isEmpty {
            switch together(rest, db, &outcome) {
            case .committed:
                return outcome
            case .failed(let failure, _) where failure.kind == .full:
                separately(rest, db, &outcome)
                return outcome
            case .failed(let failure, let call?):
                // A damaged page, or a value that the schema refuses, concerns the call that met it; the others go on without it.
                let before = commit(rest[..<call], db)
                outcome.results += before.results + [.failure(failure)]
                outcome.released += before.released
                rest = rest[(call + 1)...]
            case .failed(let failure, _):
                outcome.results += rest.map { _ in .failure(failure) }
                return outcome
            }
        }
        return outcome
    }

    /// On a full disk: changes that free space may succeed where changes that need space fail.
    private func separately(_ calls: ArraySlice<ChangesCall>, _ db: Database, _ outcome: inout Outcome) {
        // A checkpoint may free some megabytes of the log, if the database need not grow for it.
        _ = try? db.checkpoint(.truncate)
        var fullness: StoreFailure?
        for index in calls.indices {
            if let fullness, calls[index].needsRoom {
                outcome.results.append(.failure(fullness))
                continue
            }
            guard case .failed(let failure, _) = together(calls[index...index], db, &outcome) else { continue }
            outcome.results.append(.failure(failure))
            if failure.kind == .full, calls[index].needsRoom {
                fullness = StoreFailure(.full, failure.message)
            }
        }
    }

    /// One transaction. Appends the results only if it is committed.
    private func together(_ calls: ArraySlice<ChangesCall>, _ db: Database, _ outcome: inout Outcome) -> Step {
        guard !calls.isEmpty else { return .committed }
        var results: [[StoreResult]] = []
        do throws(StoreError) { try StatementBinder(begin).run() } catch {
            return .failed(error.failure(in: folder), call: nil)
        }
        do throws(StoreError) {
            for call in calls {
                var callResults: [StoreResult] = []
                callResults.reserveCapacity(call.changes.count)
                for change in call.changes { callResults.append(try changes.apply(change)) }
                results.append(callResults)
            }
        } catch {
            rollBack(db)
            return .failed(error.failure(in: folder), call: calls.startIndex + results.count)
        }
        do throws(StoreError) { try StatementBinder(end).run() } catch {
            rollBack(db)
            // SQLITE_FULL comes from a write, and the frame that makes a transaction valid is written last.
            let mayBeStored = error.primaryCode != SQLITE_FULL && !isSettled(db)
            return .failed(error.failure(in: folder, mayBeStored: mayBeStored), call: nil)
        }
        outcome.results += results.map { .success($0) }
        outcome.released += changes.takeReleased()
        return .committed
    }

    private func rollBack(_ db: Database) {
        _ = changes.takeReleased()
        // Many errors have done it already.
        if db.isInsideTransaction { _ = try? StatementBinder(undo).run() }
    }

    private func isSettled(_ db: Database) -> Bool {
        do throws(StoreError) {
            try StatementBinder(replaceFailedGroup).run()
            return true
        } catch { return false }
    }
}
