/// Something that has happened to a request, an origin, the network or the proxy, and what it means to the pending set.
///
/// One type for each fact; `PendingSet.handle` applies it. Other types of this folder (`Admission`, `RetriedStatus`, `NewRoute`, the
/// commands) are what facts and commands have in common.
package protocol PendingFact: Sendable {
    /// Changes the set. What is to be done goes to `set.actions`.
    ///
    /// - Parameter generator: Randomness, for the delays of gates.
    func apply(to set: inout PendingSet, now: Timestamp, using generator: inout some RandomNumberGenerator)
}

/// A fact that loops post to the engine as it is. It concerns nothing but the set.
package protocol PostedFact: PendingFact {}

/// An exchange joins the set: the engine keeps the exchange for the actions of its entry.
package protocol JoiningFact: PendingFact {
    var new: NewEntry { get }
}
