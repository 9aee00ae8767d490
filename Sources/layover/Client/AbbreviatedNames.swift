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

/// Lets people name incidents by the beginning of their ids, as tables show them.
struct IncidentNames {
    let client: AdminClient

    func resolved(_ name: String) async throws(CommandFailure) -> String {
        let name = name.lowercased()
        guard name.count < 32, !name.isEmpty, name.allSatisfy(\.isHexDigit) else { return name }
        let response = try await client.send(AdminCall("/v1/incidents"))
        let found = try response.decoded(ListDocument<IncidentDocument>.self).data.map(\.id).filter { $0.hasPrefix(name) }
        switch found.count {
        case 1: return found[0]
        case 0:
            throw CommandFailure(
                code: .refused, message: "no open incident has an id that begins with \(name); layover incidents lists them")
        default:
            throw CommandFailure(
                code: .refused,
                message: "\(found.count) incidents have ids that begin with \(name); give more digits")
        }
    }
}
