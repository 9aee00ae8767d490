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
        discussion: """
            Attempts that have sent nothing wait, too; others finish. With --tunnels, open tunnels (CONNECT) and WebSockets are:
              freeze   no byte passes until the mode ends (default)
              cut      reset, and attempts under way are aborted
              keep     left alone

            Example: layover offline --reason "on the train"
            """)
    enum Tunnels: String, ExpressibleByArgument, CaseIterable { case freeze, cut, keep }

    @OptionGroup var options: ModeOptions
    @Option(help: "What happens to open tunnels.") var tunnels: Tunnels?
    func run() async throws { try await options.set("offline", tunnels: tunnels?.rawValue) }
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
        var tunnels: String?
    }

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false
    @Option(help: "Reason, for the record.") var reason: String?

    func set(_ mode: String, tunnels: String? = nil) async throws {
        let call = try AdminCall("PUT", "/v1/reachability", body: Order(mode: mode, reason: reason, tunnels: tunnels))
        let response = try await connection.client().send(call)
        let view = try response.decoded(ReachabilityDocument.self)
        StandardOutput.write(json ? response.text : Terminal.safe("mode \(view.mode), network \(view.state)"))
    }
}
