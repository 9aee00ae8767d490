import Foundation
import LayoverAdmin
import LayoverCore

/// Waits for the outcome of requests: their end, or that a person has to decide.
struct OutcomeWait {
    /// How often the proxy is asked.
    private static let interval: Duration = .milliseconds(250)
    /// Up to so many requests are asked for one by one; more of them through one list.
    private static let singleCountMax = 20

    let client: AdminClient
    var progress = ProgressLine()
    var interruption = Interruption()

    /// - Returns: The requests as they stand then, in the order given. One that the proxy no longer knows is left out.
    func outcomes(of ids: [String]) async throws(CommandFailure) -> [EntryDocument] {
        var found: [String: EntryDocument] = [:]
        var open = ids
        interruption.begin()
        defer {
            interruption.end()
            progress.clear()
        }
        while true {
            for id in try await candidates(open) {
                guard let entry = try await entry(id) else {
                    open.removeAll { $0 == id }
                    continue
                }
                if Self.isOutcome(entry) { found[id] = entry }
            }
            open.removeAll { found[$0] != nil }
            guard !open.isEmpty else { return ids.compactMap { found[$0] } }
            let counts = Self.counts(found.values, open: open.count)
            progress.update(counts)
            if interruption.hasCome {
                throw CommandFailure(
                    code: .interrupted, message: "interrupted: \(counts); they stay as they are, layover pending lists them")
            }
            do { try await Task.sleep(for: Self.interval) } catch {
                throw CommandFailure(code: .refused, message: "interrupted; layover pending lists the requests that still wait")
            }
        }
    }

    private static func counts(_ found: some Collection<EntryDocument>, open: Int) -> String {
        let delivered = found.count { $0.state == EntryState.delivered.rawValue }
        let others = found.count - delivered
        return "\(delivered) delivered, " + (others > 0 ? "\(others) not delivered, " : "") + "\(open) still waiting"
    }

    private static func isOutcome(_ entry: EntryDocument) -> Bool {
        entry.state != EntryState.waiting.rawValue && entry.state != EntryState.attempting.rawValue
    }

    /// Those that may have an outcome by now.
    private func candidates(_ open: [String]) async throws(CommandFailure) -> [String] {
        guard open.count > Self.singleCountMax else { return open }
        let live = Set(try await EntryList(client: client).entries(state: "waiting,attempting").map(\.id))
        return open.filter { !live.contains($0) }
    }

    private func entry(_ id: String) async throws(CommandFailure) -> EntryDocument? {
        let response = try await client.response(to: AdminCall("/v1/pending/\(AdminCall.escaped(id))"))
        if response.status == 404 { return nil }
        guard response.status < 300 else { throw response.failure }
        return try response.decoded(EntryDocument.self)
    }
}

/// All entries that match, whatever their number.
struct EntryList {
    let client: AdminClient

    func entries(host: String? = nil, state: String? = nil) async throws(CommandFailure) -> [EntryDocument] {
        var call = AdminCall("/v1/pending", query: [("host", host), ("state", state)])
        call.accept = "application/jsonl"
        var entries: [EntryDocument] = []
        try await client.lines(of: call) { entries.append(try EntryLine.entry($0)) }
        return entries
    }
}
