import ArgumentParser
import Foundation
import LayoverAdmin

/// `layover body ID`
struct Body: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the body of a waiting request to standard output.",
        discussion: "Example: layover body 3f2a > order.json")

    @OptionGroup var bytes: StoredBytes

    func run() async throws { try await bytes.write("request-body") }
}

/// `layover response ID`
struct StoredResponseBody: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "response", abstract: "Write the response body of a delivered ticket to standard output.",
        discussion: "`layover show` tells the status. Example: layover response 3f2a > receipt.pdf")

    @OptionGroup var bytes: StoredBytes

    func run() async throws { try await bytes.write("response") }
}

/// A body that the admin API hands out, byte for byte.
struct StoredBytes: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions
    @Argument(help: "An id, or an unambiguous prefix of it.") var id: String

    func write(_ resource: String) async throws {
        let client = try connection.client()
        let id = try await EntryNames(client: client).resolved(id)
        var isText = true
        try await client.bytes(of: AdminCall("/v1/pending/\(AdminCall.escaped(id))/\(resource)")) { bytes in
            // Control characters of a body could do harm to a terminal.
            isText = isText && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
            guard isText || isatty(STDOUT_FILENO) == 0 else {
                throw CommandFailure(code: .usage, message: "the body is no plain text; redirect the output to a file")
            }
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        }
    }
}
