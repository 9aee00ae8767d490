/// A configuration that can be started from.
package struct LoadedConfiguration: Sendable {
    package let settings: Settings
    /// Every key with its value and its source, in the order of the documentation;
    /// policies and routes by name.
    package let entries: [ConfigurationEntry]
    /// One line each. They keep nothing from starting.
    package let warnings: [String]
    /// By name, in the file's terms, so that a reload can compare key by key.
    let policies: [String: PolicySettings]
    let routes: [String: RouteSettings]

    /// The source of each value, by dotted path.
    package var sources: [String: ValueSource] {
        Dictionary(entries.map { ($0.path, $0.source) }, uniquingKeysWith: { first, _ in first })
    }
}
