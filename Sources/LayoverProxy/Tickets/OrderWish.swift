import LayoverCore

/// The order that a request, or its policy, asks for among others.
struct OrderWish: Equatable {
    /// `Priority: u=N` (RFC 9218); nil: the priority of the policy.
    var priority: Int?
    /// `Layover-Lane`, or the lane of the policy.
    var lane: String?
    /// `Layover-After`.
    var after: [EntryID] = []
}
