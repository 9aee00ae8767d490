import LayoverTestSupport
import Testing

@testable import LayoverCore

/// Tickets, and what they have to come after.
extension PendingBench {
    static let other = Origin(scheme: .http, host: "b.example")

    /// A ticket as its client asks for it.
    struct Wish {
        var origin = PendingBench.origin
        var method = "POST"
        var path = "/"
        var policy = Policy.fixture()
        var lane: String?
        var parents: [EntryID] = []
        var notAfter: Timestamp?
        var preconditions: String?
        /// By its own nature: it has a key.
        var isRepeatable = true
        var priority: Int?
        var byteCount = 0

        func entry(_ id: EntryID, now: Timestamp) -> NewEntry {
            var new = NewEntry(
                id: id, method: method, url: "\(origin)\(path)", origin: origin, policy: policy,
                client: .init(address: "127.0.0.1"), createdAt: now,
                automaticLeft: policy.automaticAttemptsMax, requestByteCount: byteCount,
                parking: .init(delay: .zero, shutsGate: false, rule: .gate))
            new.lane = lane
            new.priority = priority
            new.ticket = ticket
            new.request.hasIdempotencyKey = isRepeatable
            new.request.preconditions = preconditions
            return new
        }

        var ticket: TicketFacts {
            TicketFacts(parents: parents, notAfter: notAfter)
        }
    }

    mutating func accept(_ change: (inout Wish) -> Void = { _ in }) -> (EntryID, [PendingAction]) {
        var wish = Wish()
        change(&wish)
        let id = EntryID(using: &generator)
        guard case .admitted(let sequence) = set.admitTicket() else { return (id, []) }
        let new = wish.entry(id, now: now)
        return (id, handle(NewTicketStored(new, sequence: sequence)))
    }

    mutating func accepted(_ change: (inout Wish) -> Void = { _ in }) -> EntryID { accept(change).0 }

    /// A row of tickets in one lane.
    mutating func lane(
        _ count: Int, named name: String = "lane", _ change: (inout Wish) -> Void = { _ in }
    ) -> [EntryID] {
        (0..<count).map { _ in
            accepted {
                $0.lane = name
                change(&$0)
            }
        }
    }

    /// A waiting entry that its client holds.
    mutating func held(wantsTicket: Bool = false, policy: Policy = .fixture(), lane: String? = nil) -> EntryID {
        let id = EntryID(using: &generator)
        var new = NewEntry(
            id: id, method: "POST", url: "\(Self.origin)/", origin: Self.origin, policy: policy,
            client: .init(address: "127.0.0.1"), createdAt: now, attemptCount: 1, failure: .reset,
            parking: .init(delay: .seconds(5), shutsGate: false))
        new.wantsTicket = wantsTicket
        new.lane = lane
        _ = handle(ParkRequested(new))
        return id
    }

    mutating func willStore(_ id: EntryID, _ change: (inout Wish) -> Void = { _ in }) -> TicketRecord? {
        var wish = Wish()
        change(&wish)
        return set.willStore(id, as: wish.ticket, now: now)
    }

    mutating func stored(_ id: EntryID) -> [PendingAction] { handle(EntryStoredAsTicket(id)) }
    mutating func notStored(_ id: EntryID) -> [PendingAction] { handle(EntryNotStored(id)) }
    mutating func declines(_ id: EntryID) -> [PendingAction] { handle(TicketImpossible(id)) }

    /// The disk is full: the attempt of a ticket could not be marked.
    mutating func notMarked(_ id: EntryID) -> [PendingAction] {
        #expect(handle(StartRecordRefused()) == [])
        return fail(id, .fixture(.proxyInternalError, phase: .connecting), delay: .seconds(5), rule: .store)
    }

    mutating func storeRecovered() -> [PendingAction] { handle(StoreRecovered()) }

    mutating func refuse(_ id: EntryID, _ why: UndecidedReason = .rejected) -> [PendingAction] {
        handle(RequestNotSendable(id, why: why, failure: .refused, tally(id, 0)))
    }

    mutating func patch(
        _ id: EntryID, revision: Int? = nil, priority: Int? = nil, expiresAt: Timestamp? = nil,
        lane: String?? = nil
    ) -> (EntryCommandResult, [PendingAction]) {
        let (result, actions) = set.patched(
            id, EntryPatch(priority: priority, expiresAt: expiresAt, lane: lane), revision: revision, now: now)
        return (result, kept(actions))
    }

    // MARK: A new start

    /// The records that a store would have.
    func records() -> [TicketRecord] {
        set.entries.values.compactMap { set.record(of: $0.id) }.sorted { $0.sequence < $1.sequence }
    }

    /// The same bench with a new set, into which the records were restored.
    mutating func restart(
        _ records: [TicketRecord], ended: [EntryID: EntryState] = [:], policy: Policy = .fixture()
    ) -> [PendingAction] {
        set = PendingSet()
        return handle(TicketsRestored(records.map { ($0, policy) }, ended: ended))
    }

    mutating func restart(policy: Policy = .fixture()) -> [PendingAction] { restart(records(), policy: policy) }

    // MARK: Views

    func why(_ id: EntryID) -> UndecidedReason? { entry(id)?.why }
    func reason(_ id: EntryID) -> WaitReason? { entry(id)?.waitingFor }
    func states(_ ids: [EntryID]) -> [EntryState?] { ids.map { state($0) } }
}

extension [PendingAction] {
    /// Entries that these actions start, in order.
    var started: [EntryID] { compactMap(\.started) }
    var ended: [EntryID] { compactMap { if case .end(let id, _) = $0 { id } else { nil } } }
    var offered: [EntryID] { compactMap { if case .offerTicket(let id) = $0 { id } else { nil } } }
}
