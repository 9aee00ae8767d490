import ArgumentParser
import Foundation
import LayoverAdmin

/// `layover incidents`: outages, and everything that waits in them.
struct Incidents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List outages; retry or cancel the requests of one.",
        subcommands: [ListIncidents.self, RetryIncident.self, CancelIncident.self],
        defaultSubcommand: ListIncidents.self)
}

/// `layover incidents list`
struct ListIncidents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List open outages.",
        discussion: "Example: layover incidents")

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false

    func run() async throws {
        let response = try await connection.client().send(AdminCall("/v1/incidents"))
        let incidents = try response.decoded(ListDocument<IncidentDocument>.self).data
        let table = IncidentTable(incidents: incidents, now: Date())
        StandardOutput.write(json ? try incidents.map { try Terminal.json($0) } : table.lines(.standardOutput()))
    }
}

/// `layover incidents retry`
struct RetryIncident: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send all requests of an outage now.",
        discussion: "Example: layover incidents retry 8a11")

    @OptionGroup var order: IncidentOrder

    func run() async throws { try await order.run("retry") }
}

/// `layover incidents cancel`
struct CancelIncident: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel all requests of an outage.",
        discussion: "Example: layover incidents cancel 8a11")

    @OptionGroup var order: IncidentOrder

    func run() async throws { try await order.run("cancel") }
}

/// A command for an incident.
struct IncidentOrder: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false
    @Option(help: "Reason; kept with the request and shown by show and explain.") var reason: String?
    @Argument(help: "An id, or an unambiguous prefix of it.") var id: String

    func run(_ command: String) async throws {
        let client = try connection.client()
        let id = try await IncidentNames(client: client).resolved(id)
        let response = try await client.send(
            AdminCall("POST", "/v1/incidents/\(AdminCall.escaped(id))/\(command)", body: OrderBody(reason: reason))
        )
        let incident = try response.decoded(IncidentDocument.self)
        StandardOutput.write(json ? response.text : Terminal.safe("\(incident.id) \(incident.waiting) waiting"))
    }
}

/// Incidents as a table.
struct IncidentTable {
    let incidents: [IncidentDocument]
    let now: Date

    func lines(_ terminal: Terminal) -> [String] {
        guard !incidents.isEmpty else { return ["no open incidents"] }
        var table = Table([
            .init(title: "ID"), .init(title: "KIND"), .init(title: "ORIGIN", isFlexible: true),
            .init(title: "WAITING", isRight: true), .init(title: "AGE", isRight: true),
            .init(title: "NEXT", isRight: true), .init(title: "LEFT", isRight: true), .init(title: "CAUSE"),
        ])
        let idCount = EntryTable.idCount(of: incidents.map(\.id))
        for incident in incidents { table.add(cells(of: incident, idCount: idCount)) }
        return table.lines(width: terminal.width)
    }

    private func cells(of incident: IncidentDocument, idCount: Int) -> [String] {
        [
            String(incident.id.prefix(idCount)), incident.kind, incident.origin ?? incident.scope,
            String(incident.waiting), TimeText.distance(incident.since, from: now),
            incident.manualOnly ? "manual" : TimeText.distance(incident.nextAttemptAt, from: now),
            incident.automaticLeft.map(String.init) ?? "-",
            incident.cause.map { FailureText.place($0.kind, $0.phase) } ?? "-",
        ]
    }
}
