import LayoverEngine

/// Every key of the configuration that is in force.
package struct ConfigurationDocument: Codable, Sendable {
    package struct Item: Codable, Sendable {
        /// Dotted.
        package var key: String
        /// As a file would spell it; secrets are masked.
        package var value: AnyJSON
        package var source: String
    }

    package var data: [Item]
    /// There is one page.
    @OrNull package var nextCursor: String?
}

extension ConfigurationDocument {
    init(_ values: [ConfigurationValue]) {
        self.init(
            data: values.map {
                Item(key: $0.key, value: JSONText.value(of: $0.value), source: $0.source)
            }, nextCursor: nil)
    }
}

/// The result of a reload.
package struct ReloadDocument: Codable, Sendable {
    package var at: String
    /// Keys whose new values are in force.
    package var applied: [String]
    /// Keys whose new values are used after the next start.
    package var needsRestart: [String]
    /// Why nothing was changed; empty when all went well.
    package var errors: [String]
    /// At most how many requests have yet to find their routes in the new configuration, in the status those of now. Absent: none.
    package var entriesLeft: Int?
}

extension ReloadDocument {
    init(_ report: ReloadReport, wall: WallTime) {
        self.init(
            at: wall.text(of: report.at), applied: report.appliedKeys, needsRestart: report.restartKeys,
            errors: report.errors, entriesLeft: report.entriesLeft > 0 ? report.entriesLeft : nil)
    }
}
