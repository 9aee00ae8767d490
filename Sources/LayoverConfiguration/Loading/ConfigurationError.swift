import LayoverText

/// One thing that is wrong with a configuration.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The source of the error: the file as it was named, an environment variable, or `command line`.
    package var source: String
    /// The key: `policies.slow.delay.initial`. Empty when the file as a whole is meant.
    package var path: String
    /// The error, without a full stop. Never holds a secret.
    package var message: String

    /// One line, whatever characters stand in names and values.
    package var description: String {
        EscapedText.visible(path.isEmpty ? "\(source): \(message)." : "\(source): \(path): \(message).")
    }
}
