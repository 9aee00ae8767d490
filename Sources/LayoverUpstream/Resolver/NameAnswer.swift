/// The outcome of one lookup of a name.
enum NameOutcome: Sendable, Equatable {
    /// Numeric addresses in the order in which they are to be tried, separated by commas, IPv6 in
    /// brackets (CURLOPT_RESOLVE(3)).
    case addresses(String)
    case failed(NameFailure)
}

/// An outcome with the time that it belongs to.
struct NameAnswer: Sendable, Equatable {
    var outcome: NameOutcome
    /// When the lookup began, on `MonotonicClock`.
    var askedAt: UInt64
    /// When the name must be asked for again.
    var usableUntil: UInt64

    /// - Parameter notBefore: When the asker's network changed last: older answers are of another network.
    func isUsable(notBefore: UInt64, now: UInt64) -> Bool {
        askedAt >= notBefore && now < usableUntil
    }
}
