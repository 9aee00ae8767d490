import ArgumentParser
import LayoverAdmin

/// A command that the admin API takes for one request at a time, carried out for several.
struct SingleCommands {
    let client: AdminClient
    let command: String
    let json: Bool

    /// All names are looked up before the first request is commanded. A request that refuses the command stops no other.
    func run(_ names: [String], body: some Encodable & Sendable) async throws {
        var isRefused = false
        for id in try await EntryNames(client: client).resolved(names) {
            let call = try AdminCall("POST", "/v1/pending/\(AdminCall.escaped(id))/\(command)", body: body)
            let answer = try await client.answer(to: call)
            if answer.status < 300 {
                try write(answer)
            } else if names.count > 1, answer.failure.code == .refused {
                isRefused = true
                StandardError.error("\(id): \(call.failure(answer).message)")
            } else {
                throw call.failure(answer)
            }
        }
        if isRefused { throw ExitCode(CommandFailure.Code.refused.rawValue) }
    }

    private func write(_ answer: AdminResponse) throws {
        guard !json else { return StandardOutput.write(answer.text) }
        let entry = try answer.decoded(EntryDocument.self)
        let why = entry.why.map { ": \($0)" } ?? ""
        StandardOutput.write(Terminal.safe("\(entry.id) \(entry.state)\(why)"))
    }
}
