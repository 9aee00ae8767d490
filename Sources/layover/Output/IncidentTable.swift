import Foundation
import LayoverAdmin

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
