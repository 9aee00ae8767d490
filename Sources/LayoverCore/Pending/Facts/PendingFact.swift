/// Something that has happened to a request, an origin, the network or the proxy, and what it means to the pending set.
///
/// One type for each fact; `PendingSet.handle` applies it. Other types of this folder (`Admission`, `FailureEffects`, the commands) are
/// what facts and commands have in common.
package protocol PendingFact: Sendable {
    /// Changes the set by its methods; what they do not do is added by `set.addAction`.
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

/// The time has come for what is due.
package struct TimePassed: PendingFact {
    package init() {}

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.timePassed(now: now)
    }
}

/// All tickets of an earlier run are there: what waits for them may go.
package struct RestoringEnded: PendingFact {
    package init() {}

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.restoringEnded(now: now)
    }
}

/// The proxy is being stopped: nothing is parked any more, and what waits ends.
package struct DrainBegan: PendingFact {
    package init() {}

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.drainBegan(now: now)
    }
}
