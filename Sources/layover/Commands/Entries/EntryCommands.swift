import ArgumentParser
import Foundation
import LayoverAdmin
import LayoverCore

/// `layover retry`
struct RetryEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send requests now.",
        discussion: """
            Prints when each request is sent if that is not possible now, for example in mode offline. With --wait, the exit code \
            is 0 if all requests were delivered, otherwise 3. On a terminal a line shows how many are; Ctrl-C ends the waiting, \
            and the requests stay.

            Example: layover retry --host shop.example
            """)

    @OptionGroup var selection: EntrySelectionOptions
    @Flag(help: "Wait until each request has ended or needs a decision.") var wait = false

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "retry", selection: selection, waits: wait).run() }
}

/// `layover cancel`
struct CancelEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel requests. Their clients get a 503, or a 502 if the server may have processed them.",
        discussion: "Example: layover cancel --host shop.example --reason \"the shop has closed\"")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "cancel", selection: selection).run() }
}

/// `layover hold`
struct HoldEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold", abstract: "Stop automatic attempts for requests.",
        discussion: "Example: layover hold 3f2a --reason \"ask the shop first\"")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "hold", selection: selection).run() }
}

/// `layover release`
struct ReleaseEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Resume automatic attempts for held requests.",
        discussion: "Example: layover release --all")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "release", selection: selection).run() }
}

/// Which entries a command is for.
struct EntrySelectionOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(help: "All requests to this host.") var host: String?
    @Flag(help: "All requests.") var all = false
    @Option(help: "Reason; kept with the request and shown by show and explain.") var reason: String?
    @Argument(help: "Ids, or unambiguous prefixes of ids.") var ids: [String] = []

    func check() throws {
        let ways = [!ids.isEmpty, host != nil, all].count { $0 }
        guard ways == 1 else { throw ValidationError("Give ids, --host or --all.") }
    }
}

/// Carries out a command for entries.
struct EntryOrder {
    let command: String
    let selection: EntrySelectionOptions
    /// Whether the command waits for the outcome.
    var waits = false

    func run() async throws {
        let client = try selection.connection.client()
        let ids = try await EntryNames(client: client).resolved(selection.ids)
        if ids.count == 1 { return try await one(ids[0], client) }
        if !ids.isEmpty { return try await several(ids, client) }
        try await matching(client)
    }

    private func one(_ id: String, _ client: AdminClient) async throws {
        let path = "/v1/pending/\(AdminCall.escaped(id))/\(command)"
        let response = try await client.send(AdminCall("POST", path, body: OrderBody(reason: selection.reason)))
        if waits { return try await printOutcomes(of: [id], client) }
        let entry = try response.decoded(EntryDocument.self)
        StandardOutput.write(selection.json ? response.text : line(entry))
    }

    private func line(_ entry: EntryDocument) -> String {
        command == EntryCommand.retry.rawValue ? WillGoText.line(entry) : Terminal.safe("\(entry.id) \(entry.state)")
    }

    private func several(_ ids: [String], _ client: AdminClient) async throws {
        let outcome = try await bulk(client).run(ids)
        if selection.json {
            if !waits { StandardOutput.write(try Terminal.json(outcome)) }
        } else {
            // With --wait the outcomes of those that are done are printed later.
            let told = waits ? outcome.results.filter { $0.status >= 300 } : outcome.results
            StandardOutput.write(told.map { Terminal.safe("\($0.id) \(Self.word(for: $0.status))") })
            if outcome.willGo != nil, !waits { StandardOutput.write(WillGoText.line(outcome)) }
        }
        if waits { try await printOutcomes(of: outcome.results.filter { $0.status < 300 }.map(\.id), client) }
        guard outcome.results.allSatisfy({ $0.status < 300 }) else { throw Self.refused }
    }

    private func matching(_ client: AdminClient) async throws {
        let bulk = bulk(client)
        var call = BulkOrder.Call(reason: selection.reason)
        call.filter = selection.host.map { .init(host: $0) }
        call.all = selection.all ? true : nil
        let isInParts = try await isInParts(bulk, call)
        // The response to a filter names no ids, so those to wait for are found before.
        let ids = waits || isInParts ? try await EntryList(client: client).entries(host: selection.host).map(\.id) : []
        var outcome = isInParts ? try await bulk.run(ids) : try await bulk.result(of: call)
        outcome.results = []
        if selection.json, !waits { StandardOutput.write(try Terminal.json(outcome)) }
        guard outcome.matched > 0 else {
            throw CommandFailure(code: .refused, message: "no request matches; layover pending lists those that wait")
        }
        if waits { return try await printOutcomes(of: ids, client) }
        if !selection.json {
            StandardOutput.write(
                outcome.willGo == nil ? "\(outcome.done) of \(outcome.matched) done" : WillGoText.line(outcome))
        }
        guard outcome.done > 0 else { throw Self.refused }
    }

    private func bulk(_ client: AdminClient) -> BulkOrder {
        BulkOrder(client: client, command: command, reason: selection.reason)
    }

    /// Thousands of requests are commanded in parts when a person sees the progress and may interrupt it; otherwise in one call.
    private func isInParts(_ bulk: BulkOrder, _ call: BulkOrder.Call) async throws -> Bool {
        guard bulk.progress.isShown else { return false }
        var counting = call
        counting.dryRun = true
        return try await bulk.result(of: counting).matched > BulkOrder.idCountMax
    }

    /// - Throws: Exit code 3 unless all were delivered.
    private func printOutcomes(of ids: [String], _ client: AdminClient) async throws {
        let outcomes = try await OutcomeWait(client: client).outcomes(of: ids)
        for entry in outcomes {
            StandardOutput.write(
                selection.json ? try Terminal.json(entry) : Self.outcome(entry))
        }
        guard outcomes.count == ids.count, outcomes.allSatisfy({ $0.state == EntryState.delivered.rawValue }) else {
            throw Self.refused
        }
    }

    private static func outcome(_ entry: EntryDocument) -> String {
        let detail = entry.response.map { ", status \($0.status)" } ?? entry.why.map { ": \($0)" } ?? ""
        return Terminal.safe("\(entry.id) \(entry.state)\(detail)")
    }

    private static let refused = ExitCode(CommandFailure.Code.refused.rawValue)

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
