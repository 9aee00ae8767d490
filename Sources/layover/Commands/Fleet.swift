import ArgumentParser
import Foundation
import LayoverAdmin

/// `layover fleet`: the instances that share tickets.
struct Fleet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the instances that share tickets.",
        discussion: """
            An instance that shares them with nobody shows itself.

            Example: layover fleet
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false

    func run() async throws {
        let answer = try await connection.client().send(AdminCall("/v1/fleet"))
        let instances = try answer.decoded(ListDocument<FleetDocument>.self).data
        guard json else { return StandardOutput.write(FleetTable(instances: instances).lines(.standardOutput())) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        StandardOutput.write(try instances.map { Terminal.safeJSON(String(decoding: try encoder.encode($0), as: UTF8.self)) })
    }
}
