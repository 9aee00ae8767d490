import ArgumentParser
import Foundation
import LayoverAdmin

/// `layover pending`
struct Pending: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List waiting requests.",
        discussion: "Example: layover pending --watch --host shop.example")

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Flag(help: "Show changes until interrupted. Reconnects when the proxy has restarted.") var watch = false
    @Option(help: "Only requests to this host.") var host: String?
    @Option(help: "Only requests in these states, separated by commas.") var state: String?
    @Option(help: "Only requests in this lane.") var lane: String?
    @Option(
        // A value that begins with a dash is no option.
        parsing: .unconditional,
        help: "The field to sort by, such as host or -createdAt; with - before it, descending. Default: parkedAt.")
    var sort: String?
    @Option(help: "Show at most this many requests.") var limit: Int?

    func validate() throws {
        if watch, sort != nil { throw ValidationError("--sort cannot be used with --watch.") }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    func run() async throws {
        let client = try connection.client()
        if watch {
            return try await PendingWatch(
                client: client, host: host, state: state, lane: lane, limit: limit, isJSON: json
            ).run()
        }
        var call = AdminCall("/v1/pending", query: [("host", host), ("state", state), ("lane", lane), ("sort", sort)])
        call.accept = "application/jsonl"
        var entries: [EntryDocument] = []
        var count = 0
        try await client.lines(of: call) { line in
            count += 1
            guard count <= limit ?? .max else { return }
            if json { StandardOutput.write(Terminal.safeJSON(line)) } else { entries.append(try EntryLine.entry(line)) }
        }
        guard !json else { return }
        let (table, terminal) = (EntryTable(entries: entries, now: Date()), Terminal.standardOutput())
        // A total of a part of the list would be taken for that of all.
        let last = EntryTable.rest(count - entries.count) ?? table.summary
        StandardOutput.write(table.lines(terminal) + [last].compactMap { $0.map { Table.cut($0, to: terminal.width ?? .max) } })
    }
}

/// One line of a list.
enum EntryLine {
    static func entry(_ line: String) throws(CommandFailure) -> EntryDocument {
        try AdminResponse(status: 200, body: Data(line.utf8)).decoded(EntryDocument.self)
    }
}
