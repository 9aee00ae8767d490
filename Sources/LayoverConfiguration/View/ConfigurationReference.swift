/// The tables of docs/configuration.md, made from the keys themselves.
package enum ConfigurationReference {
    /// Markdown: one table for the keys that stand alone, one for policies, one for routes.
    package static var markdown: String {
        let tables = [
            table("Keys", Schema.global, below: .global, standard: Settings()),
            table("Policies", Schema.policy, below: .policy("<name>"), standard: PolicySettings()),
            table("Routes", Schema.route, below: .route("<name>"), standard: RouteSettings()),
        ]
        return tables.joined(separator: "\n")
    }

    private static func table<Root>(
        _ title: String, _ keys: [Key<Root>], below section: KeyAddress.Section, standard: Root
    ) -> String {
        let head = "### \(title)\n\n| key | type | default | description |\n| --- | --- | --- | --- |\n"
        let rows = keys.map { key in
            let address = KeyAddress(section: section, key: key.path)
            let note = key.laterNote.map { " *\($0)*" } ?? ""
            let cells = [
                "`\(address.path)`", key.typeName, "`\(key.write(standard).text)`", key.summary + note,
            ]
            return "| " + cells.joined(separator: " | ") + " |\n"
        }
        return head + rows.joined()
    }
}
