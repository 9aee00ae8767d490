package import LayoverCore

/// Who is told of incidents.
package struct NotifySettings: Sendable, Hashable {
    /// An `http://` or `https://` address that gets a POST for each incident. It often has a key in its path.
    /// Nil: none. Default: nil.
    package var webhook: Secret?
    /// What its requests are signed with (Standard Webhooks). Nil: they are not. Default: nil.
    package var secret: Secret?
    /// A program and its arguments, run for each incident with JSON on its standard input. Arguments may be tokens.
    /// Nil: none. Default: nil.
    package var command: [Secret]?
    /// Least time between two messages. Default: 1 minute.
    package var interval = Duration.seconds(60)
}
