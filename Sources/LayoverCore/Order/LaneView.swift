/// A lane as people see it.
package struct LaneView: Sendable, Hashable {
    /// As entries show it.
    package let name: String
    /// Live entries of the lane.
    package let count: Int
    /// The one that all others wait for; nil where none of them is to come.
    package let first: EntryID?
    package let firstState: EntryState?
    /// Whether the others wait for a person: the first is held, or undecided and not passed over.
    package let isBlocked: Bool
}

extension Schedule {
    /// The lanes that have live entries, in the order of their names.
    var laneViews: [LaneView] {
        lanes.states.map { lane, state in
            let first = lanes.first(of: lane).flatMap { entries[$0] }
            let waitsForAPerson = first?.state == .held || first?.state == .undecided
            return LaneView(
                name: first?.shownLane ?? MaskedTicketIDs.target(lane), count: state.entryCount, first: first?.id,
                firstState: first?.state, isBlocked: waitsForAPerson && state.entryCount > 1)
        }.sorted { ($0.name, $0.count) < ($1.name, $1.count) }
    }
}
