import LayoverCore
import Logging
import NIOCore

/// A change of a ticket in the store.
typealias TicketChange = (EntryID, StoreChange)

/// Changes of tickets on their way to the store.
///
/// A fact touches tickets; at its end each touched ticket becomes one change, which is handed to the store (`pending`). A
/// change that the store refuses is kept (`refused`) and handed in again until it is saved. The results of the store come back by the
/// engine, on its event loop (`Engine.saved`).
struct TicketSaver {
    /// Pause before refused changes are handed in again. Default: 1 s.
    private static let pauseMin: Duration = .seconds(1)
    /// Longest pause before refused changes are handed in again. It doubles with each try after a failure of kind `corrupt`, `io` or
    /// `other`: a damaged page does not recover, and each try costs the changes in its commit a second transaction. Default: 1 minute.
    private static let pauseMax: Duration = .seconds(60)
    /// Most tickets whose refused changes are handed in at once. Default: 1 000.
    private static let catchUpCountMax = 1000

    private let logger: Logger
    private let naming: EntryNaming
    /// Nil: there are no tickets.
    private let store: (any PendingStore)?
    /// How times on disk relate to those since boot.
    var clock = TicketClock()

    /// Tickets that the current fact has changed, each once, in order.
    private(set) var touched: [EntryID] = []
    private var touchedOnce: Set<EntryID> = []
    /// Responses that are saved together with the end of their ticket.
    private(set) var responses: [EntryID: StoredResponse] = [:]
    /// Tickets whose idempotency key is forgotten together with their end: no client was ever told of them.
    private var neverAnnounced: Set<EntryID> = []

    /// Why the store refused the newest change. Nil: every change is saved.
    private(set) var failure: StoreFailure?
    private var pause = pauseMin
    private var isPausing = false
    /// Changes that the store refused, by ticket, the oldest first.
    private var refused: [EntryID: [StoreChange]] = [:]
    /// How many changes of a ticket are with the store.
    private var pending: [EntryID: Int] = [:]
    /// Called when a change of the ticket was saved, or was refused by the store.
    var watchers = Callbacks<EntryID>()

    init(_ logger: Logger, naming: EntryNaming, store: (any PendingStore)? = nil) {
        self.logger = logger
        self.naming = naming
        self.store = store
    }

    // MARK: Changes

    mutating func touch(_ id: EntryID) {
        if touchedOnce.insert(id).inserted { touched.append(id) }
    }

    /// The response of a ticket, before the end of the ticket touches it.
    mutating func responseCame(_ response: StoredResponse, of id: EntryID) { responses[id] = response }

    /// No client was told of a live ticket.
    mutating func ticketNeverAnnounced(_ id: EntryID) { neverAnnounced.insert(id) }

    private func isTouched(_ id: EntryID) -> Bool { touchedOnce.contains(id) }

    /// The exchange of an entry is over. If that was the end of a ticket, it is about to be saved.
    mutating func exchangeEnded(_ id: EntryID) {
        if !isTouched(id) { neverAnnounced.remove(id) }
    }

    /// Hands the changes of the tickets that the current fact touched to the store.
    mutating func saveTouched(for engine: Engine, record: (EntryID) -> TicketRecord?) {
        guard !touched.isEmpty else { return }
        var changes: [TicketChange] = []
        for id in touched {
            guard let record = record(id)?.shifted(by: clock) else { continue }
            if let response = responses.removeValue(forKey: id) {
                changes.append((id, .delivered(record, response)))
            } else {
                changes.append((id, .update(record)))
            }
            // In one commit with its end: there is no moment at which the ticket is final and still has its key.
            if record.state.isFinal, neverAnnounced.remove(id) != nil { changes.append((id, .forgetKey(id))) }
        }
        touched = []
        touchedOnce = []
        save(changes, for: engine)
    }

    /// The evidence of an attempt that was cut off because its ticket ended. The row stays final.
    ///
    /// - Parameter record: Nil: there is no such ticket.
    mutating func saveLateEvidence(_ record: TicketRecord?, for engine: Engine) {
        guard let record, record.state.isFinal else { return }
        save([(record.id, .lateEvidence(record.shifted(by: clock)))], for: engine)
    }

    /// A response that came after the end of its entry, so that its fact did not touch the ticket. The store removes its file, because
    /// the row is final.
    mutating func saveLateResponse(_ response: StoredResponse, of id: EntryID, _ record: TicketRecord?, for engine: Engine) {
        guard !isTouched(id) else { return }
        responses[id] = nil
        guard let record, record.state.isFinal else { return }
        save([(id, .delivered(record.shifted(by: clock), response))], for: engine)
    }

    // MARK: With the store

    /// Tickets whose newest change the store refused.
    var unsavedCount: Int { refused.count }

    func isPending(_ id: EntryID) -> Bool { pending[id] != nil }

    /// Whether all that was changed about a ticket is on disk.
    func isSaved(_ id: EntryID) -> Bool { !isPending(id) && refused[id] == nil }

    /// Why the store refuses changes, for those who wait for one.
    var shownFailure: StoreFailure {
        failure ?? store?.condition.failure ?? StoreFailure(.other, "The store did not save the change.")
    }

    /// Hands changes to the store.
    mutating func save(_ new: [TicketChange], for engine: Engine) {
        if store != nil, !new.isEmpty { commit(handed(new), for: engine) }
    }

    private func commit(_ changes: [TicketChange], for engine: Engine) {
        store?.commit(changes.map(\.1)) { result in engine.enter { $0.saved(changes, result) } }
    }

    /// The store has taken or refused changes. Those that it refused are handed in again.
    ///
    /// - Returns: Tickets that have ended, and whose long URL is on disk now.
    mutating func saved(_ changes: [TicketChange], _ result: Result<[StoreResult], StoreFailure>, for engine: Engine) -> [EntryID] {
        let finished = finished(changes, result)
        handAgain(finished, for: engine)
        return finished.urlsStored
    }

    private func handAgain(_ finished: Finished, for engine: Engine) {
        for changes in finished.again { commit(changes, for: engine) }
        guard let pause = finished.pause else { return }
        engine.eventLoop.scheduleTask(in: .nanoseconds(pause.nanosecondsSaturating)) {
            engine.assumeIsolated { $0.saver.saveAfterPause(for: $0) }
        }
    }

    private mutating func saveAfterPause(for engine: Engine) { handAgain(pauseEnded(), for: engine) }

    // MARK: Refused changes

    /// Changes are about to be committed.
    ///
    /// - Returns: All that is to be committed for them: refused changes go first, as the store ignores a change with an older revision.
    mutating func handed(_ new: [TicketChange]) -> [TicketChange] {
        var changes: [TicketChange] = []
        changes.reserveCapacity(new.count)
        for (id, change) in new {
            changes += handedAgain(of: id)
            changes.append((id, change))
        }
        count(new)
        return changes
    }

    /// The refused changes of a ticket, which are about to be committed.
    mutating func handedAgain(of id: EntryID) -> [TicketChange] {
        let changes = (refused.removeValue(forKey: id) ?? []).map { (id, $0) }
        count(changes)
        return changes
    }

    private mutating func count(_ changes: [TicketChange]) {
        for (id, _) in changes { pending[id, default: 0] += 1 }
    }

    /// The consequences of the result of a commit, or of the end of a pause.
    struct Finished {
        /// Tickets that have ended, and whose long URL is on disk now.
        var urlsStored: [EntryID] = []
        /// Refused changes that are to be committed now, ticket by ticket.
        var again: [[TicketChange]] = []
        /// The pause after which `pauseEnded` is called. Nil: none begins.
        var pause: Duration?
    }

    /// The store has taken or refused changes.
    mutating func finished(_ changes: [TicketChange], _ result: Result<[StoreResult], StoreFailure>) -> Finished {
        for (id, _) in changes {
            let count = (pending[id] ?? 1) - 1
            pending[id] = count == 0 ? nil : count
        }
        var finished = Finished()
        switch result {
        case .success(let results):
            for (index, (id, change)) in changes.enumerated() {
                if results[index] == .stale {
                    // The row does not take the change: it is newer, final or missing.
                    logger.debug("no row for the change", metadata: ["ticket": "\(naming.shown(id))", "change": "\(change.name)"])
                } else if change.hasLongURLOfEnded, isSaved(id) {
                    finished.urlsStored.append(id)
                }
            }
            if refused.isEmpty {
                failure = nil
                pause = Self.pauseMin
            } else if pause == Self.pauseMin {
                finished.again = allHandedAgain()
            }
        case .failure(let failure):
            // The store itself logs the beginning and the end of a failure; this line comes once a second.
            logger.debug("saving to the store failed; retrying", metadata: ["error": "\(failure)", "tickets": "\(changes.count)"])
            self.failure = failure
            for (id, change) in changes { keep(change, of: id) }
            if !isPausing { finished.pause = pause }
            isPausing = true
        }
        return finished
    }

    /// - Returns: The refused changes that are to be committed again. The changes of more tickets follow after another pause.
    mutating func pauseEnded() -> Finished {
        switch failure?.kind {
        case .corrupt, .io, .other: pause = min(pause * 2, Self.pauseMax)
        case .full, .readOnly, .locked, .closed, nil: pause = Self.pauseMin
        }
        var finished = Finished()
        finished.again = allHandedAgain()
        // A success hands in the others only after short pauses, so nothing else would hand them in after a long one.
        isPausing = !refused.isEmpty
        if isPausing { finished.pause = pause }
        return finished
    }

    /// Keeps a change that has to be handed in again.
    private mutating func keep(_ change: StoreChange, of id: EntryID) {
        // Of two updates the newer one contains the older; a response, or that it was dropped, is in no other change.
        if case .update = change, case .update? = refused[id]?.last { refused[id]?.removeLast() }
        refused[id, default: []].append(change)
    }

    /// One commit for each ticket: a change that the store never takes must not block the others.
    private mutating func allHandedAgain() -> [[TicketChange]] {
        // Sorted by id: the order of a dictionary must not be visible from outside.
        let ids = refused.keys.prefix(Self.catchUpCountMax).sorted { $0.isBefore($1) }
        return ids.map { handedAgain(of: $0) }
    }
}
