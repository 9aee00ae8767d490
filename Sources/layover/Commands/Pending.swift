import ArgumentParser
import Foundation
import LayoverAdmin

/// `layover pending`
struct Pending: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List waiting requests.")

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Flag(help: "Show changes until interrupted.") var watch = false
    @Option(help: "Only requests to this host.") var host: String?
    @Option(help: "Only requests in these states, separated by commas.") var state: String?
    @Option(help: "Only requests in this lane.") var lane: String?

    func run() async throws {
        let client = try connection.client()
        if watch {
            return try await PendingWatch(client: client, host: host, state: state, lane: lane, isJSON: json).run()
        }
        var call = AdminCall("/v1/pending", query: [("host", host), ("state", state), ("lane", lane)])
        call.accept = "application/jsonl"
        var entries: [EntryDocument] = []
        try await client.lines(of: call) { line in
            if json { StandardOutput.write(line) } else { entries.append(try EntryLine.entry(line)) }
        }
        if !json { StandardOutput.write(EntryTable(entries: entries, now: Date()).lines(.standardOutput())) }
    }
}

/// One line of a list.
enum EntryLine {
    static func entry(_ line: String) throws(CommandFailure) -> EntryDocument {
        try AdminResponse(status: 200, body: Data(line.utf8)).decoded(EntryDocument.self)
    }
}
