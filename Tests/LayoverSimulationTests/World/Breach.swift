/// An invariant that did not hold.
struct Breach: Error, CustomStringConvertible {
    var seed: UInt64
    /// The name of the invariant: the method of `Referee` that looks after it.
    var invariant: String
    var detail: String
    var step: Int

    var description: String { "\(invariant) at step \(step): \(detail)" }
}
