import Testing

@testable import LayoverCore

/// What an attempt must come after.
extension PendingModel {
    func checkOrder(start id: EntryID, in set: PendingSet, _ place: Comment) {
        #expect(!beingStored.contains(id), "started on its way to the disk: \(place)")
        for parent in parents[id] ?? [] where !delivered.contains(parent) {
            // The word of a person is about a parent that is lost, not about one that is still to come.
            #expect(states[parent] == .ended, "a child before its parent: \(place)")
            #expect(wasReleased.contains(id), "a child without its parent: \(place)")
        }
        guard let lane = lanes[id] else { return }
        for (other, otherLane) in lanes where otherLane == lane && other != id {
            let isUnderWay = states[other] == .attempting || states[other] == .responding
            #expect(!isUnderWay, "two of a lane at once: \(place)")
            guard states[other] == .waiting, sequences[other] ?? 0 < sequences[id] ?? 0 else { continue }
            let entry = set.entries[other]
            let isSkipped = entry?.state == .undecided && entry?.policy.undecidedInLane == .skip
            #expect(isSkipped, "overtaken in its lane: \(place)")
        }
    }

    /// What the step at hand says of it is over.
    mutating func endedOrder(_ id: EntryID) {
        beingStored.remove(id)
        offered.remove(id)
        lanes[id] = nil
    }

    func checkOrder(_ set: PendingSet, _ place: Comment) {
        for (lane, line) in set.lanes.states {
            let members = set.entries.values.filter { $0.lane == lane }
            #expect(line.entryCount == members.count && !members.isEmpty, "a lane miscounts: \(place)")
            if let underWay = line.underWay { #expect(set.entries[underWay]?.state == .attempting, place) }
        }
        for entry in set.entries.values where entry.state == .waiting {
            let isBlocked = set.blocker(of: entry) != nil
            #expect(!isBlocked || entry.eligibleBy == nil || entry.lane != nil, "eligible though blocked: \(place)")
            #expect(isBlocked || !entry.isBlocked, "forgotten though nothing keeps it: \(place)")
        }
        for (child, left) in set.dependencies.parentsLeft {
            #expect(set.entries[child] != nil && !left.isEmpty, place)
            for parent in left { #expect(set.dependencies.children[parent]?.contains(child) == true, place) }
        }
        for (parent, children) in set.dependencies.children {
            #expect(set.entries[parent] != nil && !children.isEmpty, place)
            for child in children { #expect(set.dependencies.parentsLeft[child]?.contains(parent) == true, place) }
        }
        for (origin, line) in set.origins.states {
            let here = set.entries.values.filter { $0.origin == origin && $0.state == .attempting }
            #expect(line.bigUnderWay == here.count { $0.isBig }, "big ones are miscounted: \(place)")
        }
    }
}
