package import LayoverCore

/// The result of a reload.
package struct ReloadReport: Sendable, Hashable {
    package var at: Timestamp
    /// Keys whose new values are in force, sorted.
    package var appliedKeys: [String]
    /// Keys whose new values come into force with the next start, sorted.
    package var restartKeys: [String]
    /// Why nothing was changed, a line each; empty when all went well.
    package var errors: [String]

    package init(at: Timestamp, appliedKeys: [String] = [], restartKeys: [String] = [], errors: [String] = []) {
        self.at = at
        self.appliedKeys = appliedKeys
        self.restartKeys = restartKeys
        self.errors = errors
    }
}
