import ArgumentParser
import LayoverAdmin

/// Carries out a command for entries.
struct EntryOrder {
    /// The body of a command for one entry.
    private struct One: Encodable {
        var reason: String?
    }

    /// The body of a command for many entries.
    private struct Many: Encodable {
        struct Filter: Encodable {
            var host: String
        }

        var ids: [String]?
        var filter: Filter?
        var all: Bool?
        var reason: String?
    }

    let command: String
    let selection: EntrySelectionOptions

    func run() async throws {
        let client = try selection.connection.client()
        let ids = try await EntryNames(client: client).resolved(selection.ids)
        if ids.count == 1 { return try await one(ids[0], client) }
        if !ids.isEmpty { return try await several(ids, client) }
        let order = Many(
            filter: selection.host.map { Many.Filter(host: $0) }, all: selection.all ? true : nil,
            reason: selection.reason)
        let answer = try await client.send(AdminCall("POST", "/v1/pending/\(command)", body: order))
        let outcome = try answer.decoded(BulkDocument.self)
        StandardOutput.write(selection.json ? answer.text : "\(outcome.done) of \(outcome.matched) done")
    }

    private func one(_ id: String, _ client: AdminClient) async throws {
        let path = "/v1/pending/\(AdminCall.escaped(id))/\(command)"
        let answer = try await client.send(AdminCall("POST", path, body: One(reason: selection.reason)))
        let entry = try answer.decoded(EntryDocument.self)
        StandardOutput.write(selection.json ? answer.text : "\(entry.id) \(entry.state)")
    }

    private func several(_ ids: [String], _ client: AdminClient) async throws {
        let order = Many(ids: ids, reason: selection.reason)
        let answer = try await client.send(AdminCall("POST", "/v1/pending/\(command)", body: order))
        let outcome = try answer.decoded(BulkDocument.self)
        if selection.json {
            StandardOutput.write(answer.text)
        } else {
            StandardOutput.write(
                outcome.results.map { Terminal.safe("\($0.id) \(Self.word(for: $0.status))") })
        }
        guard outcome.results.allSatisfy({ $0.status < 300 }) else {
            throw ExitCode(CommandFailure.Code.refused.rawValue)
        }
    }

    private static func word(for status: Int) -> String {
        switch status {
        case 200: "done"
        case 404: "not found"
        case 409: "refused: wrong state"
        case 507: "done, but not saved to disk yet"
        default: "refused (\(status))"
        }
    }
}
