/// Why bytes are refused. After one of these nothing more can be read from the connection, because
/// nobody knows where the next message would begin.
package struct FramingError: Error, Sendable {
    /// The status to answer a client with: 400, 414, 431, 501 or 505. For responses of an upstream
    /// it is 502.
    package var status: Int

    /// A complete sentence that names the rule. Fixed text: safe to log and to show.
    package var reason: StaticString

    package init(status: Int, reason: StaticString) {
        self.status = status
        self.reason = reason
    }
}

extension FramingError: Equatable {
    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.status == rhs.status && lhs.reason.description == rhs.reason.description
    }
}

extension FramingError: CustomStringConvertible {
    package var description: String { "\(status): \(reason)" }
}
