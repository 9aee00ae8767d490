import LayoverAdmin

/// Lets people name entries by the beginning of their ids, as lists show them. Ended entries too.
struct EntryNames {
    let client: AdminClient

    /// The complete id for each name.
    func resolved(_ names: [String]) async throws(CommandFailure) -> [String] {
        var ids: [String] = []
        for name in names { ids.append(try await resolved(name)) }
        return ids
    }

    func resolved(_ name: String) async throws(CommandFailure) -> String {
        let name = name.lowercased()
        guard name.count < 32, !name.isEmpty, name.allSatisfy(\.isHexDigit) else { return name }
        return try await client.send(AdminCall("/v1/pending/\(name)")).decoded(EntryDocument.self).id
    }
}
