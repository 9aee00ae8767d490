package import Foundation

/// A ticket as its own address shows it, as far as the tests look at it.
package struct TicketView: Sendable, Equatable, Codable {
    package struct Response: Sendable, Equatable, Codable {
        package var status: Int
    }

    package var id: String
    package var state: String
    package var waitingFor: String?
    package var why: String?
    package var attempts: Int
    package var createdAt: String
    package var nextAttemptAt: String?
    package var expiresAt: String
    package var response: Response?

    package var isFinal: Bool { ["delivered", "cancelled", "expired", "failed"].contains(state) }

    /// Dates are read from two clocks at each look, so they may differ by a millisecond.
    package func isSameEnd(as other: TicketView) -> Bool {
        id == other.id && state == other.state && why == other.why && attempts == other.attempts
            && response == other.response
    }

    package init(_ json: Data) throws {
        self = try JSONDecoder().decode(TicketView.self, from: json)
    }
}
