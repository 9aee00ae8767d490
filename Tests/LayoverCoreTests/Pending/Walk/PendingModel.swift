import Testing

@testable import LayoverCore

/// What a pending set must have told so far, kept apart from it: the checks of the random walk.
struct PendingModel {
    enum State: Equatable {
        /// `waiting` is also whoever is held or undecided.
        case offered, waiting, attempting, responding, ended
    }

    var states: [EntryID: State] = [:]
    var origins: [EntryID: Origin] = [:]
    var revisions: [EntryID: Int] = [:]
    var notices: [Origin: OriginNotice] = [:]
    var shutGates: Set<Origin> = []
    var incidents: Set<IncidentID> = []
    /// Attempts that were to be given up if they were still connecting.
    var abandoned: Set<EntryID> = []
    /// Who was held or undecided after the last step: only a command starts those.
    var stopped: Set<EntryID> = []
    /// Who must not be started but by a person or as a first attempt, while there is a portal.
    var exposed: Set<EntryID> = []
    /// Questions that a person answered with force: they are in no incident until they fail anew.
    var wasForced: Set<EntryID> = []
    /// Whom the step at hand is about.
    var meant: Set<EntryID> = []
    var isDraining = false
    /// Who nobody holds, and in which order it was admitted.
    var tickets: Set<EntryID> = []
    var sequences: [EntryID: Int] = [:]
    var lanes: [EntryID: String] = [:]
    var parents: [EntryID: [EntryID]] = [:]
    var delivered: Set<EntryID> = []
    /// Children whom a person sent although a parent of theirs was lost.
    var wasReleased: Set<EntryID> = []
    /// Who is on the way to the disk: nothing is started meanwhile.
    var beingStored: Set<EntryID> = []
    /// Who was offered a ticket, and has not said yet what became of it.
    var offered: Set<EntryID> = []

    func all(_ wanted: State) -> [EntryID] {
        states.filter { $0.value == wanted }.keys.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
    }

    mutating func offered(_ id: EntryID, origin: Origin, isExposed: Bool) {
        states[id] = .offered
        origins[id] = origin
        if isExposed { exposed.insert(id) }
        meant = [id]
    }

    // MARK: Actions

    /// - Returns: The origins to which an attempt was started, and whether one was a replay.
    mutating func take(_ actions: [PendingAction], from set: PendingSet, _ place: Comment) -> [Origin: Bool] {
        var started: [Origin: Bool] = [:]
        for action in actions {
            switch action {
            case .start(let id, let trigger):
                check(start: id, by: trigger, in: set, place)
                states[id] = .attempting
                abandoned.remove(id)
                if let origin = origins[id] {
                    let isReplay = trigger != .arrival || tickets.contains(id)
                    started[origin] = started[origin] ?? false || isReplay
                }
            case .end(let id, _):
                // The report of its end came before, but for one that was never let in.
                #expect(states[id] == .ended || states[id] == .offered, "ended: \(place)")
                states[id] = .ended
            case .offerTicket(let id):
                #expect(states[id] != nil && states[id] != .ended, "offered a ticket: \(place)")
                #expect(!tickets.contains(id) && offered.insert(id).inserted, "offered twice: \(place)")
            case .refuse(let id, _, _):
                #expect(states[id] == .offered, "refused: \(place)")
                states[id] = .ended
            case .abortAttempt(let id, let isCommanded):
                let isUnderWay = states[id] == .attempting || states[id] == .responding
                #expect(isCommanded ? isUnderWay : tickets.contains(id) && states[id] == .responding, place)
            case .abandonConnecting(let id):
                #expect(states[id] == .attempting || states[id] == .responding, "abandoned: \(place)")
                abandoned.insert(id)
            case .lookForOthers(let id):
                #expect(states[id] == .attempting || states[id] == .responding, "others looked for: \(place)")
            case .dropResponse(let id):
                #expect(states[id] == .waiting, "an answer was dropped: \(place)")
            case .deliverResponse(let id, _):
                // One that never joined is done; a replay is under way until its response is delivered.
                #expect(states[id] == .offered || states[id] == .waiting, "delivered: \(place)")
                states[id] = states[id] == .offered ? .ended : .responding
            // The walk has its entries find their routes one by one, without a table.
            case .reroute: Issue.record("rerouted: \(place)")
            case .incident(let kind, let incident):
                told(kind, incident, place)
            case .gate(let origin, let isShut):
                #expect(shutGates.contains(origin) != isShut, "a gate was told twice: \(place)")
                if isShut { shutGates.insert(origin) } else { shutGates.remove(origin) }
            case .announce(let origin, let notice):
                #expect(notices[origin, default: .forgotten] != notice, "announced: \(place)")
                notices[origin] = notice
            case .report(let kind, let id):
                reported(kind, id, place)
            }
        }
        return started
    }

    private func check(start id: EntryID, by trigger: AttemptTrigger, in set: PendingSet, _ place: Comment) {
        #expect(states[id] == .waiting, "started: \(place)")
        checkOrder(start: id, in: set, place)
        #expect(!isDraining && set.mode != .offline, "started though nothing may: \(place)")
        #expect(!stopped.contains(id) || meant.contains(id), "started unasked: \(place)")
        let isFirst = trigger == .arrival || trigger == .canary && meant.contains(id)
        if set.isBehindPortal, exposed.contains(id), trigger != .admin {
            #expect(isFirst, "shown to a portal: \(place)")
        }
    }

    private mutating func reported(_ kind: EntryEventKind, _ id: EntryID, _ place: Comment) {
        switch kind {
        case .parked:
            #expect(states[id] == .offered, "parked: \(place)")
            states[id] = .waiting
        case .ended:
            #expect([.waiting, .attempting, .responding].contains(states[id]), "ended twice: \(place)")
            states[id] = .ended
            endedOrder(id)
        case .attempted, .changed:
            break
        }
    }

    private mutating func told(_ kind: IncidentEventKind, _ incident: Incident, _ place: Comment) {
        switch kind {
        case .opened:
            #expect(incidents.insert(incident.id).inserted, "opened twice: \(place)")
            #expect(incident.waiting > 0, "opened without members: \(place)")
        case .updated:
            #expect(incidents.contains(incident.id) && incident.waiting > 0, "updated: \(place)")
        case .closed:
            #expect(incidents.remove(incident.id) != nil, "closed: \(place)")
            #expect(incident.waiting == 0, "closed with members: \(place)")
        }
    }
}
