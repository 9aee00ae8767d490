import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import NIOCore

/// All routes of the admin port.
struct AdminRoutes: Sendable {
    let engine: Engine
    let sources: AdminSources
    let input: RequestInput
    let wall: WallTime
    let access: AdminAccess
    let sessions: BrowserSessions
    let guesses: TokenGuesses
    let heartbeat: Duration
    let audit = AuditLog()
    /// Distinguishes event numbers of this run from those of another.
    let run: String

    init(options: AdminOptions, sources: AdminSources) {
        engine = sources.engine
        self.sources = sources
        input = RequestInput(byteCountMax: options.bodyByteCountMax)
        wall = WallTime(clock: sources.engine.clock)
        sessions = BrowserSessions(clock: sources.engine.clock)
        guesses = TokenGuesses(clock: sources.engine.clock, pause: sources.pause)
        access = AdminAccess(options: options, sessions: sessions)
        heartbeat = options.heartbeat
        run = String(UInt32.random(in: .min ... .max), radix: 36)
    }

    func router() -> Router<AdminContext> {
        let router = Router(context: AdminContext.self, options: .autoGenerateHeadEndpoints)
        addProcessRoutes(to: router)
        addPendingRoutes(to: router)
        addIncidentRoutes(to: router)
        addActivityRoutes(to: router)
        addBatchRoutes(to: router)
        addReachabilityRoutes(to: router)
        addRehearsalRoutes(to: router)
        addConfigurationRoutes(to: router)
        addCacheRoutes(to: router)
        addDashboardRoutes(to: router)
        addLoginRoutes(to: router)
        addAuditRoutes(to: router)
        router.get("/v1/events") { request, _ in try events(request) }
        return router
    }

    // MARK: Entries

    /// How a caller is shown entries.
    func view(for request: Request) -> EntryView {
        EntryView(
            wall: wall, naming: engine.naming, showsTickets: access.isAdmin(request),
            mayCommand: access.role(of: request) != .viewer)
    }

    /// The entry for an id of a caller: the one that is shown by it, or else the one whose ticket has it. A caller that
    /// knows the id of a ticket may do everything here.
    ///
    /// - Parameter isKnown: Whether there is an entry.
    func entryID(_ text: String, where isKnown: (EntryID) async throws -> Bool) async rethrows -> EntryID? {
        guard let id = EntryID(text) else { return nil }
        let meant = engine.naming.meant(id)
        if meant == id { return id }
        if try await isKnown(meant) { return meant }
        return try await isKnown(id) ? id : meant
    }

    /// The author of a command.
    func author(of request: Request, _ context: AdminContext) -> CommandAuthor {
        CommandAuthor(who: access.name(of: request), from: context.peer)
    }

    // MARK: Responses

    func json(_ document: some Encodable, fields: HTTPFields = [:]) throws -> Response {
        var fields = fields
        fields[.contentType] = "application/json"
        return Response(
            status: .ok, headers: fields, body: ResponseBody(byteBuffer: try JSONText.bytes(document)))
    }

    func text(_ bytes: ByteBuffer, type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: bytes))
    }

    /// Calls without parameters refuse every one: a misspelt name must not pass for nothing.
    func refuseParameters(_ request: Request) throws(AdminProblem) {
        _ = try QueryParameters(request.uri.query, known: [])
    }
}
