/// Everything that is wrong with a configuration, in the order of sources and paths. Never empty.
package struct ConfigurationErrors: Error, Sendable, Hashable, CustomStringConvertible {
    package var errors: [ConfigurationError]

    /// One line for each.
    package var description: String { errors.map(\.description).joined(separator: "\n") }
}
