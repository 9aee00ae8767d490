import ArgumentParser
import Foundation
import LayoverAdmin
import LayoverCore

/// `layover show`
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show one request.",
        discussion: "Example: layover show 3f2a")

    @OptionGroup var entry: ShownEntry

    func run() async throws {
        try await entry.write { (document: EntryDocument) in Self.lines(document, .standardOutput(), now: Date()) }
    }

    static func lines(_ entry: EntryDocument, _ terminal: Terminal = .plain, now: Date) -> [String] {
        var facts = Facts()
        facts.add("id", entry.id)
        facts.add("request", "\(entry.method) \(entry.url)")
        let detail = entry.waitingFor.map { " for \($0)" } ?? entry.why.map { ": \($0)" } ?? ""
        let state = entry.state + detail + (entry.response.map { ", status \($0.status)" } ?? "")
        facts.add("state", state, as: entry.state, terminal)
        facts.add("ticket", entry.ticket.map(Self.address))
        facts.add("lane", entry.lane)
        for parent in entry.parents ?? [] { facts.add("after", parent) }
        facts.add("priority", entry.priority == 3 ? nil : "\(entry.priority) (0 first, 7 last)")
        facts.add("incident", entry.incident)
        facts.add("attempts", "\(entry.attempts)" + (entry.automaticLeft.map { ", \($0) left" } ?? ""))
        if let attempt = entry.attempt {
            let sent = attempt.bytesSent > 0 ? ", \(attempt.bytesSent) bytes of the body sent" : ""
            facts.add("attempt", "since \(TimeText.distance(attempt.startedAt, from: now)), \(attempt.phase)\(sent)")
        }
        facts.add(
            "next attempt", entry.nextAttemptAt.map { "in \(TimeText.distance($0, from: now)), at \($0)" })
        facts.add("parked", "\(TimeText.distance(entry.parkedAt, from: now)) ago, at \(entry.parkedAt)")
        facts.add("expires", "at \(entry.expiresAt)")
        if let failure = entry.lastFailure {
            facts.add(
                "last failure",
                "\(FailureText.place(failure.kind, failure.phase)) (\(failure.evidence)) at \(failure.at)")
            facts.add("", failure.message)
        }
        facts.add(
            "client",
            entry.client.address + (entry.client.userAgent.map { ", \($0)" } ?? "")
                + (entry.client.connected ? "" : ", disconnected"))
        facts.add(
            "body", "\(entry.requestBytes) bytes" + (entry.bodyReplayable ? "" : ", cannot be sent again"))
        if let resume = entry.resume {
            facts.add("response", "broke off; \(resume.done) of \(resume.total) bytes have come, resumed=\(resume.times)")
        }
        facts.add("policy", entry.policy + (entry.route.map { ", route \($0)" } ?? ""))
        if let settled = entry.settledBy {
            let status = settled.status.map { ", status \($0)" } ?? ""
            facts.add("settled by", settled.who + (settled.from.map { " from \($0)" } ?? "") + " at \(settled.at)\(status)")
            facts.add("", settled.note)
        }
        if let command = entry.lastCommand {
            facts.add("last command", CommandText.line(command))
            facts.add("", command.reason)
        }
        facts.add("commands", entry.actions.isEmpty ? "none" : entry.actions.joined(separator: " "))
        return facts.lines
    }

    /// The ticket's address for its client. The server hides the id from callers without the token.
    private static func address(of ticket: String) -> String {
        ticket == MaskedURL.mask
            ? "yes; give the admin token (--token) to see its address"
            : "/.layover/tickets/\(ticket) on the proxy port"
    }
}

/// `layover explain`
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a request's attempts, the rule applied to each, and what it waits for.",
        discussion: "Example: layover explain 3f2a")

    @OptionGroup var entry: ShownEntry

    func run() async throws {
        try await entry.write(at: "/explain") { (document: ExplainDocument) in Timeline(document: document).lines }
    }
}

/// One request of which a document is printed: as the admin API gives it, or as lines for people.
struct ShownEntry: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false
    @Argument(help: "An id, or an unambiguous prefix of it.") var id: String

    /// - Parameters:
    ///   - place: Where the document is, below the place of the entry.
    ///   - lines: The document for people.
    func write<Document: Decodable>(at place: String = "", _ lines: (Document) -> [String]) async throws {
        let client = try connection.client()
        let id = try await EntryNames(client: client).resolved(id)
        let response = try await client.send(AdminCall("/v1/pending/\(AdminCall.escaped(id))\(place)"))
        let document = try response.decoded(Document.self)
        StandardOutput.write(json ? [response.text] : lines(document))
    }
}
