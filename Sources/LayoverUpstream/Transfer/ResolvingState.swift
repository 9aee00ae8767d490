/// How far the name of one attempt's origin has got.
struct ResolvingState {
    /// When the attempt, or its second sending, began, on `MonotonicClock`: names count towards `connect`.
    var beganAt: UInt64 = 0
    /// When waiting for the name ends; nil when nobody waits.
    var endsAt: UInt64?
    /// True once libcurl got the attempt. Before that, the facts in the easy handle may be those of an earlier attempt.
    var wasAdded = false
    /// How often libcurl asked for a name that it had not been given.
    var missCount = 0
}
