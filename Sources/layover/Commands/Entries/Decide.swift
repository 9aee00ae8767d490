import ArgumentParser
import Foundation
import LayoverAdmin
import LayoverCore

/// `layover decide`: goes through the requests that need a person.
struct Decide: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Go through the requests that need a decision, one after the other.",
        discussion: """
            For each request it tells what may have happened, and asks what is to be done. An empty line leaves the request as it \
            is. The end of the input, or quit, ends the command.

            Example: layover decide --reason "checked with the shop"
            """)

    @OptionGroup var connection: ConnectionOptions
    @Option(help: "Reason; kept with each request and shown by show and explain.") var reason: String?

    func run() async throws {
        let walk = DecisionWalk(
            client: try connection.client(), reason: reason, tell: { StandardOutput.write($0) },
            ask: { question in
                print(question, terminator: " ")
                fflush(nil)
                return readLine()
            })
        try await walk.run()
    }
}

/// The questions and what follows from the answers.
struct DecisionWalk {
    let client: AdminClient
    let reason: String?
    let tell: (String) -> Void
    /// Asks the person. Nil: no more answers come.
    let ask: (String) -> String?

    private static let pageCount = 1000

    func run() async throws {
        let entries = try await undecided()
        guard !entries.isEmpty else { return tell("no request needs a decision") }
        for (index, entry) in entries.enumerated() {
            tell(Terminal.safe("\(index + 1) of \(entries.count): \(entry.id.prefix(12)) \(entry.method) \(entry.url)"))
            let explained = try await client.response(to: AdminCall("/v1/pending/\(entry.id)/explain"))
            guard explained.status < 300 else {
                tell("  it has ended meanwhile")
                continue
            }
            tell(Terminal.safe("  " + (try explained.decoded(ExplainDocument.self).now.text)))
            guard try await decide(entry) else { return }
        }
    }

    /// The oldest first. More than a person decides in one go are left for the next.
    private func undecided() async throws -> [EntryDocument] {
        let call = AdminCall("/v1/pending", query: [("state", "undecided"), ("sort", "parkedAt"), ("limit", "\(Self.pageCount)")])
        return try await client.send(call).decoded(PendingDocument.self).data
    }

    /// - Returns: False at the end of the input.
    private func decide(_ entry: EntryDocument) async throws -> Bool {
        let choices = Choice.allCases.filter { $0.command.map { entry.actions.contains($0.rawValue) } ?? true }
        while true {
            let words = choices.map { "\($0.rawValue) (\($0.meaning))" }.joined(separator: ", ")
            guard let line = ask("  \(words)?") else { return false }
            let answer = line.trimmingCharacters(in: .whitespaces).lowercased()
            let meant = choices.filter { answer.isEmpty ? $0 == .keep : $0.rawValue.hasPrefix(answer) }
            guard meant.count == 1, let choice = meant.first else {
                tell("  please write one of the words, or its first letter")
                continue
            }
            switch choice {
            case .quit: return false
            case .keep: return true
            case .retry, .drop, .settle, .force: if try await perform(choice, entry) { return true }
            }
        }
    }

    /// - Returns: Whether the next request comes.
    private func perform(_ choice: Choice, _ entry: EntryDocument) async throws -> Bool {
        guard let command = choice.command else { return true }
        var order = OrderBody(reason: reason)
        if choice == .force {
            let risk = EntryCommand.duplicateRisk
            guard ask("  The server may process it twice. To accept that, write \(risk):") == risk else {
                tell("  nothing was done")
                return false
            }
            order.acknowledge = risk
        }
        var call = try AdminCall("POST", "/v1/pending/\(entry.id)/\(command.rawValue)", body: order)
        // The decision is only for the revision that was shown.
        call.revision = entry.revision
        let response = try await client.response(to: call)
        guard response.status < 300 else {
            tell(Terminal.safe("  " + (response.status == 412 ? "it has changed meanwhile; nothing was done" : response.failure.message)))
            return true
        }
        let state = try response.decoded(EntryDocument.self).state
        tell("  \(choice.rawValue): it is \(state) now")
        return true
    }

    private enum Choice: String, CaseIterable {
        case keep, retry, force, settle, drop, quit

        /// The command of the choice. Nil: the choice gives no command.
        var command: EntryCommand? {
            switch self {
            case .keep, .quit: nil
            case .retry: .retry
            case .force: .force
            case .settle: .settle
            case .drop: .cancel
            }
        }

        var meaning: String {
            switch self {
            case .keep: "leave it"
            case .retry: "send it now"
            case .force: "send it again"
            case .settle: "the server has it"
            case .drop: "cancel it"
            case .quit: "end"
            }
        }
    }
}
