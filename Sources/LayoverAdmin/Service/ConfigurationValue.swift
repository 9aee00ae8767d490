/// One key of the configuration that is in force, as `/v1/config` shows it.
package struct ConfigurationValue: Sendable {
    /// Dotted: `policies.default.holdMax`.
    package var key: String
    /// JSON text, as in a file. Secrets are masked already.
    package var value: String
    /// The source of the value: for example `default`, `command line`, or the name of a file or of a variable.
    package var source: String

    package init(key: String, value: String, source: String) {
        self.key = key
        self.value = value
        self.source = source
    }
}
