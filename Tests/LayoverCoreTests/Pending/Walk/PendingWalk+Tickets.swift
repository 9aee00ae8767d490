import LayoverTestSupport
import Testing

@testable import LayoverCore

/// Tickets, lanes and parents in a random life.
extension PendingWalk {
    /// Puts it in a lane, now and then.
    mutating func laned(_ new: NewEntry) -> NewEntry {
        var new = new
        model.sequences[new.id] = set.admission.sequence + 1
        if chance(25) { new.lane = chance(50) ? "one" : "two" }
        if chance(25) { new.wantsTicket = true }
        if chance(20) { new.requestByteCount = OriginState.bigByteCount + 1 }
        model.lanes[new.id] = new.lane
        return new
    }

    mutating func accept() {
        guard let origin = origins.randomElement(using: &generator) else { return }
        guard case .admitted(let sequence) = set.admitTicket() else { return }
        // What was lost to the disk.
        if chance(10) { return set.admissionDecided() }
        let policy = randomPolicy()
        let id = EntryID(using: &generator)
        var parents: [EntryID] = []
        while chance(25), let parent = model.tickets.sorted(by: { $0.low < $1.low }).randomElement(using: &generator) {
            parents.append(parent)
        }
        var new = laned(
            NewEntry(
                id: id, method: "POST", url: "http://\(origin.host)/", origin: origin, policy: policy,
                client: .init(address: ""), createdAt: now, isExposed: chance(30),
                parking: .init(delay: .zero, shutsGate: false, rule: .gate)))
        new.ticket = TicketFacts(parents: parents)
        new.request.hasIdempotencyKey = true
        model.offered(id, origin: origin, isExposed: new.request.isExposed)
        model.tickets.insert(id)
        model.sequences[id] = sequence
        model.parents[id] = parents
        patience[id] = true
        take(handle(NewTicketStored(new, sequence: sequence)))
    }

    // MARK: From hold to ticket

    /// Somebody begins to become a ticket, or is on disk, or is not.
    mutating func store() {
        if let id = model.beingStored.sorted(by: { $0.low < $1.low }).randomElement(using: &generator) {
            return chance(80) ? stored(id) : notStored(id)
        }
        if let id = model.offered.sorted(by: { $0.low < $1.low }).first, chance(30) { return declines(id) }
        let candidates = (model.all(.waiting) + model.all(.attempting)).filter { !model.tickets.contains($0) }
        guard let id = candidates.randomElement(using: &generator) else { return }
        #expect(set.willStore(id, as: TicketFacts(), now: now) != nil, place)
        model.beingStored.insert(id)
    }

    /// It takes no note of an attempt, or something again.
    mutating func disk() {
        let tickets = model.all(.attempting).filter(model.tickets.contains)
        guard chance(60), let id = tickets.randomElement(using: &generator) else {
            return take(handle(StoreRecovered()))
        }
        take(handle(StartRecordRefused()))
        guard chance(90) else { return }
        model.states[id] = .waiting
        model.wasForced.remove(id)
        let parking = Verdict.Parking(delay: .seconds(5), shutsGate: false, rule: .store)
        take(handle(AttemptFailed(id, .fixture(.proxyInternalError, phase: .connecting), parking, tally(id))))
    }

    mutating func stored(_ id: EntryID) {
        model.beingStored.remove(id)
        model.offered.remove(id)
        model.tickets.insert(id)
        patience[id] = true
        take(handle(EntryStoredAsTicket(id)))
    }

    mutating func notStored(_ id: EntryID) {
        model.beingStored.remove(id)
        model.offered.remove(id)
        take(handle(EntryNotStored(id)))
    }

    mutating func declines(_ id: EntryID) {
        guard !model.beingStored.contains(id) else { return }
        model.offered.remove(id)
        take(handle(TicketImpossible(id)))
    }

    // MARK: What people change

    mutating func patch() {
        let live = model.all(.waiting) + model.all(.attempting) + model.all(.responding)
        guard let id = live.randomElement(using: &generator) else { return }
        if chance(50) {
            let lane: String? = chance(40) ? nil : chance(50) ? "one" : "two"
            let isUnderWay = model.states[id] != .waiting
            let before = model.lanes[id]
            if !isUnderWay { model.lanes[id] = lane }
            let (result, actions) = set.patched(id, EntryPatch(lane: lane), now: now)
            #expect(result == (isUnderWay && lane != before ? .conflict : .done), place)
            take(actions)
        } else {
            take(set.patched(id, EntryPatch(priority: Int.random(in: 0...7, using: &generator)), now: now).1)
        }
    }
}
