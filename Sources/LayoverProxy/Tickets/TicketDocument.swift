import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverText
import NIOCore

/// A ticket as its client is shown it, in JSON.
struct TicketDocument {
    let id: EntryID
    /// The ticket as its client sees it. Nil: no more is known than that the ticket was accepted.
    var view: TicketView?
    var response: StoredResponse?
    /// Nanoseconds since 1970 of a time since boot.
    let wallNanoseconds: (Timestamp) -> Int64

    var json: String {
        let record = view?.record
        var members: [(String, String)] = [
            ("id", quoted(id.description)),
            ("state", quoted((record?.state ?? .waiting).rawValue)),
            ("waitingFor", view?.waitingFor.map { quoted($0.rawValue) } ?? "null"),
            ("why", record?.why.map { quoted($0.rawValue) } ?? "null"),
            ("attempts", String(record?.counts.all ?? 0)),
            ("createdAt", time(record?.createdAt)),
            ("nextAttemptAt", time(view?.nextAttemptAt)),
            ("expiresAt", time(record?.expiresAt)),
            ("lastFailure", failure(record?.lastFailure)),
            ("response", responseJSON),
        ]
        if let settled = record?.settledBy { members.append(("settledBy", json(of: settled))) }
        return "{\(members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ","))}\n"
    }

    private var responseJSON: String {
        guard let response else { return "null" }
        return "{\"status\":\(response.status),\"fields\":{\(fields(of: response))}}"
    }

    private func fields(of response: StoredResponse) -> String {
        var names: [String] = []
        var values: [String: String] = [:]
        for field in FieldLines(response.fields, end: .lineBreak) where field.isField {
            let (name, value) = (field.name, field.text)
            if let earlier = values[name] {
                values[name] = earlier + ", " + value
            } else {
                names.append(name)
                values[name] = value
            }
        }
        return names.map { "\(quoted($0)):\(quoted(values[$0] ?? ""))" }.joined(separator: ",")
    }

    private func json(of settled: Settlement) -> String {
        let members = [
            ("who", quoted(settled.author.who)), ("from", settled.author.from.map(quoted) ?? "null"), ("at", time(settled.at)),
            ("note", settled.outcome.note.map(quoted) ?? "null"), ("status", settled.outcome.status.map(String.init) ?? "null"),
        ]
        return "{\(members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ","))}"
    }

    private func failure(_ failure: Failure?) -> String {
        guard let failure else { return "null" }
        return """
            {"kind":"\(failure.kind.rawValue)","phase":"\(failure.phase.rawValue)",\
            "evidence":"\(failure.evidence.rawValue)","message":\(quoted(failure.message))}
            """
    }

    private func time(_ timestamp: Timestamp?) -> String {
        timestamp.map { quoted(RFC3339.text(nanoseconds: wallNanoseconds($0))) } ?? "null"
    }

    private func quoted(_ text: String) -> String { "\"\(EscapedText.json(text))\"" }
}

/// The response to a request that was to become a ticket.
extension OwnResponse {
    /// The ticket was accepted, now or before: where it is.
    static func accepted(
        _ id: EntryID, base: String, applied: String, document: TicketDocument
    ) -> OwnResponse {
        var fields: [(name: String, value: String)] = [
            ("Content-Type", "application/json"), ("Location", base + TicketAddress.path(of: id)),
        ]
        if !applied.isEmpty { fields.append(("Preference-Applied", applied)) }
        return OwnResponse(status: 202, fields: fields, body: document.json)
    }
}
