import ArgumentParser
import LayoverAdmin

/// `layover online`
struct Online: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Treat the network as up.",
        discussion: "Example: layover online")
    @OptionGroup var options: ModeOptions
    func run() async throws { try await options.set("online") }
}

/// `layover offline`
struct Offline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Treat the network as down: park all requests.",
        discussion: "Example: layover offline --reason \"on the train\"")
    @OptionGroup var options: ModeOptions
    func run() async throws { try await options.set("offline") }
}

/// `layover auto`
struct Auto: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Return to automatic detection.",
        discussion: "Example: layover auto")
    @OptionGroup var options: ModeOptions
    func run() async throws { try await options.set("auto") }
}

/// Options of all commands that change the mode.
struct ModeOptions: ParsableArguments {
    private struct Order: Encodable {
        var mode: String
        var reason: String?
    }

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false
    @Option(help: "Reason, for the record.") var reason: String?

    func set(_ mode: String) async throws {
        let call = try AdminCall("PUT", "/v1/reachability", body: Order(mode: mode, reason: reason))
        let answer = try await connection.client().send(call)
        let view = try answer.decoded(ReachabilityDocument.self)
        StandardOutput.write(json ? answer.text : Terminal.safe("mode \(view.mode), network \(view.state)"))
    }
}
