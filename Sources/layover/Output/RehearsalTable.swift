import Foundation
import LayoverAdmin

/// Outages that are played, as a table and as sentences.
struct RehearsalTable {
    let rehearsals: [RehearsalDocument]
    let now: Date

    func lines(_ terminal: Terminal) -> [String] {
        guard !rehearsals.isEmpty else { return ["no rehearsals"] }
        var table = Table([
            .init(title: "ID"), .init(title: "HOST", isFlexible: true), .init(title: "FAULT"), .init(title: "ENDS IN", isRight: true),
        ])
        for rehearsal in rehearsals {
            table.add([rehearsal.id, rehearsal.host, Self.fault(rehearsal), TimeText.distance(rehearsal.endsAt, from: now)])
        }
        return table.lines(width: terminal.width)
    }

    static func fault(_ rehearsal: RehearsalDocument) -> String {
        switch (rehearsal.fault, rehearsal.afterBytes, rehearsal.status) {
        case ("cut", let count?, _): "cut after \(count) bytes"
        case ("slow", let count?, _): "slow, \(count) bytes/s"
        case (_, _, let status?): "status \(status)"
        default: rehearsal.fault
        }
    }

    static func began(_ rehearsal: RehearsalDocument) -> [String] {
        var lines = [
            "rehearsal \(rehearsal.id): \(rehearsal.host) plays \(fault(rehearsal)) for \(rehearsal.for)",
            "stop it with: layover rehearse --stop \(rehearsal.id)",
        ]
        switch rehearsal.fault {
        case "cut": lines.append("open tunnels (CONNECT, most https) to this host are reset; new ones are not affected by this fault")
        case "slow", "status": lines.append("tunnels (CONNECT, most https) to this host are not affected by this fault")
        default: break
        }
        return lines.map(Terminal.safe)
    }

    static func stopped(_ rehearsal: RehearsalDocument) -> String {
        Terminal.safe("rehearsal \(rehearsal.id) stopped: \(rehearsal.host), \(fault(rehearsal))")
    }
}
