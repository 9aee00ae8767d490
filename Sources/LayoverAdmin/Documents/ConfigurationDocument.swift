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
