import ArgumentParser
import Foundation
import LayoverAdmin

/// `layover cache`: responses kept for reading offline.
struct Cache: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List or delete cached responses.",
        subcommands: [ListCache.self, PurgeCache.self])
}

/// `layover cache list`
struct ListCache: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List cached responses, newest first.",
        discussion: "Example: layover cache list --host docs.example")

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(help: "Only responses from this host.") var host: String?

    func run() async throws {
        let client = try connection.client()
        let (responses, usage) = try await Self.all(of: client, host: host)
        let table = CacheTable(responses: responses, usage: usage, now: Date())
        StandardOutput.write(json ? try responses.map { try Terminal.json($0) } : table.lines(.standardOutput()))
    }

    /// Every response that is kept, of all pages.
    static func all(
        of client: AdminClient, host: String?
    ) async throws(CommandFailure) -> (responses: [CachedResponseDocument], usage: CacheUsageDocument) {
        var responses: [CachedResponseDocument] = []
        var cursor: String?
        while true {
            let query = [("host", host), ("limit", "1000"), ("cursor", cursor)]
            let page = try await client.send(AdminCall("/v1/cache", query: query)).decoded(CacheDocument.self)
            responses += page.data
            guard let next = page.nextCursor else { return (responses, page.usage) }
            cursor = next
        }
    }
}

/// `layover cache purge`
struct PurgeCache: AsyncParsableCommand {
    private struct Body: Encodable {
        var all: Bool?
        var host: String?
        var url: String?
    }

    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Delete cached responses.",
        discussion: "Example: layover cache purge --host docs.example")

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false
    @Flag(help: "All responses.") var all = false
    @Option(help: "All responses from this host.") var host: String?
    @Option(help: "All responses for this exact URL, query included.") var url: String?

    func validate() throws {
        guard [all, host != nil, url != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("Give one of --host, --url and --all.")
        }
    }

    func run() async throws {
        let order = Body(all: all ? true : nil, host: host, url: url)
        let response = try await connection.client().send(AdminCall("POST", "/v1/cache/purge", body: order))
        let count = try response.decoded(CachePurgeDocument.self).purged
        StandardOutput.write(json ? response.text : Self.sentence(count))
    }

    static func sentence(_ count: Int) -> String { count == 1 ? "1 response deleted" : "\(count) responses deleted" }
}
