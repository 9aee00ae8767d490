package import LayoverCore

/// The receivers of notifications about incidents.
package struct NotifySettings: Sendable, Hashable {
    /// An `http://` or `https://` address that gets a POST for each incident. It often has a key in its path.
    /// Nil: there is no webhook. Default: nil.
    package var webhook: Secret?
    /// The secret that the webhook's requests are signed with (Standard Webhooks). Nil: they are not signed. Default: nil.
    package var secret: Secret?
    /// A program and its arguments, run for each incident with JSON on its standard input. Arguments may be tokens.
    /// Nil: there is no program. Default: nil.
    package var command: [Secret]?
    /// Least time between two messages. Default: 1 minute.
    package var interval = Duration.seconds(60)
}
