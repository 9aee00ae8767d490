import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import Logging

/// The audit log: every command, carried out or not.
extension AdminRoutes {
    func addAuditRoutes(to router: Router<AdminContext>) {
        router.get("/v1/audit") { request, _ in
            let parameters = try QueryParameters(request.uri.query, known: AuditQuery.parameterNames)
            let query = try AuditQuery(parameters, isStream: request.acceptsLines)
            let page = query.page(of: audit.newest(), view(for: request))
            return request.acceptsLines ? lines(page.data) : try json(page)
        }
    }

    /// Keeps and logs a command that was answered. Requests that only read are none.
    ///
    /// - Parameter problem: Why the command was refused; nil if it was carried out.
    func recordCommand(_ request: Request, _ context: AdminContext, status: Int, problem: AdminProblem?) {
        guard ![HTTPRequest.Method.get, .head].contains(request.method) else { return }
        let path = request.uri.path.split(separator: "/")
        let isOfIncident = path.count > 2 && path[1] == "incidents"
        let record = AuditRecord(
            at: engine.clock.now(), command: Self.commandName(request.method, path),
            author: author(of: request, context), incident: isOfIncident ? MaskedTicketIDs.target(String(path[2])) : nil,
            note: context.audit.content, status: status,
            outcome: problem?.kind ?? (status == 401 ? AdminProblem.unauthorized.kind : "done"))
        audit.append(record)
        log(record, context)
    }

    private static func commandName(_ method: HTTPRequest.Method, _ path: [Substring]) -> String {
        switch (method, path.dropFirst().first) {
        case (.patch, _): "change"
        case (.post, "rehearsals"): "rehearse"
        case (.delete, "rehearsals"): "stop-rehearsal"
        default: path.last.map(String.init) ?? ""
        }
    }

    private func log(_ record: AuditRecord, _ context: AdminContext) {
        var fields: Logger.Metadata = [
            "command": "\(record.command)", "who": "\(record.author.who)", "status": "\(record.status)", "outcome": "\(record.outcome)",
        ]
        fields["from"] = record.author.from.map { "\($0)" }
        fields["exchange"] = record.note.entry.map { "\(engine.naming.shown($0))" }
        fields["incident"] = record.incident.map { "\($0)" }
        fields["requests"] = record.note.done.map { "\($0)" }
        fields["detail"] = record.note.detail.map { "\($0)" }
        fields["reason"] = record.note.reason.map { "\($0)" }
        sources.logger?.notice("command", metadata: fields)
    }
}
