/// The furthest point an attempt reached before it failed.
package enum FailurePhase: String, Comparable, CaseIterable, Sendable {
    case resolving, connecting, securing, sending, awaitingResponse, receiving

    /// Whether the connection did not yet stand, so that nothing of the request can have left.
    ///
    /// Only failures in these phases say that the way to the origin is blocked, and only they shut its gate.
    package var isBeforeSending: Bool { self < .sending }

    private var order: Int {
        switch self {
        case .resolving: 0
        case .connecting: 1
        case .securing: 2
        case .sending: 3
        case .awaitingResponse: 4
        case .receiving: 5
        }
    }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.order < rhs.order }
}
