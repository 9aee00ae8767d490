/// A lane as people see it.
package struct LaneView: Sendable, Hashable {
    /// As entries show it.
    package let name: String
    /// Live entries of the lane.
    package let count: Int
    /// The entry that all others wait for; nil if no entry of the lane is to come.
    package let first: EntryID?
    package let firstState: EntryState?
    /// Whether the others wait for a person: the first is held, or undecided and not passed over.
    package let isBlocked: Bool
}
