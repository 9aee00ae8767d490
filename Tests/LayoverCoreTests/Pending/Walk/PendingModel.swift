import Testing

@testable import LayoverCore

/// What a pending set must have told so far, kept apart from it: the checks of the random walk.
struct PendingModel {
    enum Standing: Equatable {
        case offered, waiting, attempting, responding, ended
    }

    var standing: [EntryID: Standing] = [:]
    private var origins: [EntryID: Origin] = [:]
    private var revisions: [EntryID: Int] = [:]
    private(set) var notices: [Origin: OriginNotice] = [:]
    /// Attempts that were to be given up if they were still connecting.
    var abandoned: Set<EntryID> = []
    var isDraining = false

    func all(_ wanted: Standing) -> [EntryID] {
        standing.filter { $0.value == wanted }.keys.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
    }

    mutating func offered(_ id: EntryID, origin: Origin) {
        standing[id] = .offered
        origins[id] = origin
    }

    // MARK: Actions

    /// - Returns: The origins to which an attempt was started, and whether one was a replay.
    mutating func take(_ actions: [PendingAction], _ place: Comment) -> [Origin: Bool] {
        var started: [Origin: Bool] = [:]
        for action in actions {
            switch action {
            case .start(let id, let trigger):
                #expect(standing[id] == .waiting, "started: \(place)")
                standing[id] = .attempting
                abandoned.remove(id)
                if let origin = origins[id] {
                    started[origin] = started[origin] ?? false || trigger != .arrival
                }
            case .end(let id, _):
                // The report of its end came before, but for one that was never let in.
                #expect(standing[id] == .ended || standing[id] == .offered, "ended: \(place)")
                standing[id] = .ended
            case .refuse(let id, _, _):
                #expect(standing[id] == .offered, "refused: \(place)")
                standing[id] = .ended
            case .abandonConnecting(let id):
                #expect(standing[id] == .attempting || standing[id] == .responding, "abandoned: \(place)")
                abandoned.insert(id)
            case .announce(let origin, let notice):
                #expect(notices[origin, default: .forgotten] != notice, "announced: \(place)")
                notices[origin] = notice
            case .report(let kind, let id):
                reported(kind, id, place)
            }
        }
        return started
    }

    private mutating func reported(_ kind: EntryEventKind, _ id: EntryID, _ place: Comment) {
        switch kind {
        case .parked:
            #expect(standing[id] == .offered, "parked: \(place)")
            standing[id] = .waiting
        case .ended:
            #expect([.waiting, .attempting, .responding].contains(standing[id]), "ended twice: \(place)")
            standing[id] = .ended
        case .attempted, .changed:
            break
        }
    }

    // MARK: After each step

    mutating func check(_ set: PendingSet, started: [Origin: Bool], _ place: Comment) {
        let live = standing.filter { [.waiting, .attempting, .responding].contains($0.value) }
        #expect(Set(set.entries.keys) == Set(live.keys), place)
        for entry in set.entries.values {
            let isWaiting = standing[entry.id] == .waiting
            #expect(entry.state == (isWaiting ? .waiting : .attempting), place)
            #expect(entry.revision >= revisions[entry.id] ?? 1, place)
            revisions[entry.id] = entry.revision
        }
        let waitingCount = live.count { $0.value == .waiting }
        #expect(set.counts == [.waiting: waitingCount, .attempting: live.count - waitingCount], place)
        #expect(set.heldCount == live.count, place)
        for (origin, line) in set.lines {
            let here = live.filter { origins[$0.key] == origin }
            #expect(line.entryCount == here.count, place)
            #expect(line.underWay == here.count { $0.value != .waiting }, place)
            check(line, origin, started: started[origin], place)
        }
        #expect(live.keys.allSatisfy { id in origins[id].map { set.lines[$0] != nil } ?? false }, place)
    }

    private func check(_ line: OriginLine, _ origin: Origin, started: Bool?, _ place: Comment) {
        if line.gate.isShut {
            if started != nil { #expect(line.underWay == 1, "more than a canary: \(place)") }
        } else if started == true {
            #expect(line.underWay <= line.gate.window, "over the window: \(place)")
        }
        guard !isDraining else { return }
        let notice = notices[origin, default: .forgotten]
        #expect(notice == (line.gate.isShut ? .shut : .watched), place)
        #expect(line.gate.isShut || line.entryCount > 0, "an idle line is kept: \(place)")
    }
}
