import LayoverAdmin

/// Lets people name entries by the beginning of their ids, as tables show them.
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
        // A complete id is not looked up: only the server knows which ended entries it remembers.
        guard name.count < 32, !name.isEmpty, name.allSatisfy(\.isHexDigit) else { return name }
        let answer = try await client.send(AdminCall("/v1/pending", query: [("q", name), ("limit", "1000")]))
        let found = try answer.decoded(PendingDocument.self).data.map(\.id).filter { $0.hasPrefix(name) }
        switch found.count {
        case 1: return found[0]
        case 0:
            throw CommandFailure(code: .refused, message: "no pending request has an id that begins with \(name)")
        default:
            throw CommandFailure(
                code: .refused,
                message: "\(found.count) requests have ids that begin with \(name); give more digits")
        }
    }
}
