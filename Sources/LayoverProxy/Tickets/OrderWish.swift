import LayoverCore

/// What a request says about its order among others, or its policy does.
struct OrderWish: Equatable {
    /// `Priority: u=N` (RFC 9218); nil: the policy's.
    var priority: Int?
    /// `Layover-Lane`, or the lane of the policy.
    var lane: String?
    /// `Layover-After`.
    var after: [EntryID] = []
}
