import ArgumentParser
import Foundation
import LayoverAdmin
import LayoverCore

/// `layover open`: prints a link to the dashboard that works once, and opens it where there is a desktop.
struct Open: AsyncParsableCommand {
    private struct Link: Codable {
        var url: String
        var expiresAt: String?
    }

    static let configuration = CommandConfiguration(
        abstract: "Open the dashboard in a browser.",
        discussion: """
            Prints a link that lets one browser in within a minute, and opens it if there is a desktop. Without an admin token the \
            link is that of the dashboard itself, which then shows no bodies.

            Example: layover open
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(name: .customLong("print"), help: "Only print the link.") var printsOnly = false
    @Flag(help: "Print JSON. Opens nothing.") var json = false

    func run() async throws {
        let client = try connection.client()
        let link = try await link(client)
        if json {
            StandardOutput.write(Terminal.safeJSON(String(decoding: try JSONEncoder().encode(link), as: UTF8.self)))
            return
        }
        StandardOutput.write(Terminal.safe(link.url))
        if !printsOnly, Self.hasDesktop(ProcessInfo.processInfo.environment) { Self.open(link.url) }
    }

    private func link(_ client: AdminClient) async throws -> Link {
        guard client.address.socketPath == nil else {
            throw CommandFailure(
                code: .usage, message: "a browser cannot reach a Unix socket (\(client.address)); give admin.listen a port")
        }
        guard client.token != nil else {
            _ = try await client.send(AdminCall("/livez"))
            return Link(url: "\(client.address.url)/", expiresAt: nil)
        }
        let response = try await client.send(AdminCall("POST", "/v1/login-links", body: OrderBody()))
        return try response.decoded(Link.self)
    }

    static func hasDesktop(_ environment: [String: String]) -> Bool {
        environment.nonempty("DISPLAY") != nil || environment.nonempty("WAYLAND_DISPLAY") != nil
    }

    /// A desktop without a browser is no failure: the link is printed.
    private static func open(_ url: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdg-open", url]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try? process.run()
        process.waitUntilExit()
    }
}
