import ArgumentParser
import LayoverAdmin
import LayoverCore

/// A command that the admin API takes for one request at a time, carried out for several.
struct SingleCommands {
    let client: AdminClient
    let command: String
    let json: Bool

    /// All names are looked up before the first request is commanded. A request that refuses the command stops no other.
    func run(_ names: [String], body: OrderBody) async throws {
        var isRefused = false
        for id in try await EntryNames(client: client).resolved(names) {
            let call = try AdminCall("POST", "/v1/pending/\(AdminCall.escaped(id))/\(command)", body: body)
            let response = try await client.response(to: call)
            if response.status < 300 {
                try write(response)
            } else if names.count > 1, response.failure.code == .refused {
                isRefused = true
                StandardError.error("\(id): \(call.failure(response).message)")
            } else {
                throw call.failure(response)
            }
        }
        if isRefused { throw ExitCode(CommandFailure.Code.refused.rawValue) }
    }

    private func write(_ response: AdminResponse) throws {
        guard !json else { return StandardOutput.write(response.text) }
        let entry = try response.decoded(EntryDocument.self)
        let why = entry.why.map { ": \($0)" } ?? ""
        StandardOutput.write(Terminal.safe("\(entry.id) \(entry.state)\(why)"))
    }
}

/// `layover abort`: ends attempts that hang, and keeps their requests.
struct Abort: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End the attempts under way, and keep their requests.",
        discussion: """
            A request that may be sent again waits for its next attempt, or is held again. One that the server may have processed, and
            that is not repeatable, follows onMaybeApplied: it is undecided, or its client gets a 502.

            Example: layover abort 3f2a
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(help: "Reason; kept with the request and shown by show and explain.") var reason: String?
    @Argument(help: "Ids, or unambiguous prefixes of ids.") var ids: [String]

    func run() async throws {
        try await SingleCommands(client: try connection.client(), command: "abort", json: json).run(ids, body: OrderBody(reason: reason))
    }
}

/// `layover force`: resends a request that the origin may have processed.
struct Force: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Resend a request that the server may have processed.",
        discussion: """
            The server may process the request twice. To accept that risk, give \
            --acknowledge \(EntryCommand.duplicateRisk).

            Example: layover force 3f2a --acknowledge \(EntryCommand.duplicateRisk)
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false
    @Option(help: "Must be \(EntryCommand.duplicateRisk).") var acknowledge: String
    @Option(help: "Reason; kept with the request and shown by show and explain.") var reason: String?
    @Argument(help: "An id, or an unambiguous prefix of it.") var id: String

    func run() async throws {
        let client = try connection.client()
        let id = try await EntryNames(client: client).resolved(id)
        let order = OrderBody(reason: reason, acknowledge: acknowledge)
        let response = try await client.send(
            AdminCall("POST", "/v1/pending/\(AdminCall.escaped(id))/force", body: order))
        let entry = try response.decoded(EntryDocument.self)
        StandardOutput.write(json ? response.text : WillGoText.line(entry))
    }
}

/// `layover settle`: the origin has processed a request, as a person knows.
struct Settle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Mark requests as delivered: the server has processed them.",
        discussion: """
            For requests that wait, are held or undecided. They are not sent again, and requests that wait for them go. A client \
            on its connection gets a 502, because the response is not known; a ticket says settledBy.

            Example: layover settle 3f2a --status 201 --note "order 17 is in the shop"
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(help: "The status of the server's response.") var status: Int?
    @Option(help: "A note for the client, 500 characters at most.") var note: String?
    @Option(help: "Reason; kept with the request and shown by show and explain.") var reason: String?
    @Argument(help: "Ids, or unambiguous prefixes of ids.") var ids: [String]

    func run() async throws {
        try await SingleCommands(client: try connection.client(), command: "settle", json: json)
            .run(ids, body: OrderBody(reason: reason, status: status, note: note))
    }
}
