import ArgumentParser
import Foundation
import LayoverAdmin

/// `layover rehearse`: outages of one host that are played.
struct Rehearse: AsyncParsableCommand {
    private struct Order: Encodable {
        var host: String
        var fault: String
        var afterBytes: Int?
        var status: Int?
        var `for`: String?
    }

    static let configuration = CommandConfiguration(
        abstract: "Play an outage of one host, without touching the network.",
        usage: """
            layover rehearse HOST FAULT [--after-bytes N] [--status N] [--for DURATION]
            layover rehearse --list
            layover rehearse --stop ID…
            layover rehearse --stop --all
            """,
        discussion: """
            HOST is a host as it stands in URLs, with :port for one port only. FAULT is:
              refuse   the connection is refused
              hang     no connection comes about within timeouts.connect
              status   a response has --status (default 503)
              portal   a captive portal redirects; over TLS its certificate is wrong
              cut      the response is cut off after --after-bytes (default 0)
              slow     the response has --after-bytes per second (default 1024)
            cut and slow really send the request, the others send nothing.

            Other hosts are not affected. It ends after --for (default 10m, at most 24h), \
            by --stop, or with the proxy. Tunnels (CONNECT) meet refuse, hang and portal: \
            open ones are frozen by hang and reset by refuse, portal and cut.

            Example: layover rehearse api.example.com refuse --for 5m
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Flag(help: "List the rehearsals.") var list = false
    @Flag(help: "Stop the rehearsals with these ids.") var stop = false
    @Flag(help: "With --stop: all of them.") var all = false
    @Option(help: "cut: bytes of the response, head included. slow: bytes per second.") var afterBytes: Int?
    @Option(help: "status: the status of the response.") var status: Int?
    @Option(name: .customLong("for"), help: "How long, such as 30s, 10m or 2h.") var length: String?
    @Argument(help: "HOST FAULT, or the ids to stop.") var words: [String] = []

    func validate() throws {
        let hasDetails = afterBytes != nil || status != nil || length != nil
        switch (list, stop || all) {
        case (true, true): throw ValidationError("Give one of --list and --stop.")
        case (true, false):
            guard words.isEmpty, !hasDetails else { throw ValidationError("--list takes nothing else.") }
        case (false, true):
            guard !hasDetails else { throw ValidationError("--stop takes no options of a new rehearsal.") }
            guard words.isEmpty == all else { throw ValidationError("Give --stop with ids, or with --all.") }
        case (false, false):
            guard words.count == 2 else {
                throw ValidationError("Give a host and a fault, such as: layover rehearse api.example.com refuse")
            }
        }
    }

    func run() async throws {
        let client = try connection.client()
        if list { return try await listAll(client) }
        if stop || all { return try await stopSome(client) }
        let order = Order(host: words[0], fault: words[1], afterBytes: afterBytes, status: status, for: length)
        let response = try await client.send(AdminCall("POST", "/v1/rehearsals", body: order))
        let rehearsal = try response.decoded(RehearsalDocument.self)
        StandardOutput.write(json ? [response.text] : RehearsalTable.began(rehearsal))
    }

    private func listAll(_ client: AdminClient) async throws {
        let rehearsals = try await Self.all(of: client)
        let table = RehearsalTable(rehearsals: rehearsals, now: Date())
        StandardOutput.write(json ? try rehearsals.map { try Terminal.json($0) } : table.lines(.standardOutput()))
    }

    private func stopSome(_ client: AdminClient) async throws {
        let ids = all ? try await Self.all(of: client).map(\.id) : words
        guard !ids.isEmpty else {
            throw CommandFailure(code: .refused, message: "no rehearsal is under way; layover rehearse HOST FAULT starts one")
        }
        for id in ids {
            var call = AdminCall("/v1/rehearsals/\(AdminCall.escaped(id))")
            call.method = "DELETE"
            let response = try await client.send(call)
            let rehearsal = try response.decoded(RehearsalDocument.self)
            StandardOutput.write(json ? response.text : RehearsalTable.stopped(rehearsal))
        }
    }

    private static func all(of client: AdminClient) async throws -> [RehearsalDocument] {
        try await client.send(AdminCall("/v1/rehearsals")).decoded(ListDocument<RehearsalDocument>.self).data
    }
}
