import LayoverEngine

/// The result of a reload.
package struct ReloadDocument: Codable, Sendable {
    package var at: String
    /// Keys whose new values are in force.
    package var applied: [String]
    /// Keys whose new values are used after the next start.
    package var needsRestart: [String]
    /// Why nothing was changed; empty when all went well.
    package var errors: [String]
}

extension ReloadDocument {
    init(_ report: ReloadReport, wall: WallTime) {
        self.init(
            at: wall.text(of: report.at), applied: report.appliedKeys, needsRestart: report.restartKeys,
            errors: report.errors)
    }
}
