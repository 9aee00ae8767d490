/// How far the name of one attempt's origin has got.
struct ResolvingState {
    /// When the attempt, or its second sending, began, on `MonotonicClock`: names count towards `connect`.
    var beganAt: UInt64 = 0
    /// When waiting for the name ends; nil when nobody waits.
    var endsAt: UInt64?
    /// Whether libcurl has had the attempt, so that its facts are of this one.
    var wasAdded = false
    /// How often libcurl asked for a name that it had not been given.
    var missCount = 0
}
