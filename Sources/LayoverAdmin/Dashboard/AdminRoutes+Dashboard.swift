import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import LayoverSystem
import LayoverText
import NIOCore

/// The dashboard: one page, its files, and the snapshot that it draws.
extension AdminRoutes {
    func addDashboardRoutes(to router: Router<AdminContext>) {
        router.get("/") { request, _ in try await page(request) }
        router.get("/dashboard/snapshot") { request, _ in
            try json(try await snapshot(try DashboardQuery(request.uri.query), request))
        }
        router.get("/dashboard/words") { request, _ in
            try list(DashboardWords(await engine.liveEntries()).data, request)
        }
        router.get("/dashboard/{file}") { request, context in try file(request, context) }
    }

    private func page(_ request: Request) async throws -> Response {
        // A link from elsewhere may hold anything: the page then says what was wrong, instead of not being there.
        let snapshot: DashboardSnapshot
        do throws(AdminProblem) {
            snapshot = try await self.snapshot(try DashboardQuery(request.uri.query), request)
        } catch {
            snapshot = try await self.snapshot(DashboardQuery(), request, problem: error.detail)
        }
        var response = text(ByteBuffer(string: try DashboardPage(snapshot).text), type: "text/html; charset=utf-8")
        response.headers[.contentSecurityPolicy] = DashboardPage.securityPolicy
        return response
    }

    private func snapshot(
        _ query: DashboardQuery, _ request: Request, problem: String? = nil
    ) async throws(AdminProblem) -> DashboardSnapshot {
        // The number is read first: an event between the reads is then sent again, and none is lost.
        let last = await engine.lastEventNumber
        let now = engine.clock.now()
        var (entries, nextCursor): ([Entry], EntryCursor?) = ([], nil)
        if let pending = query.pending {
            do throws(StoreFailure) {
                let listing = try await engine.list(pending)
                (entries, nextCursor) = (try await engine.entries(of: listing.items), listing.nextCursor)
            } catch {
                throw .store(error)
            }
        }
        let view = view(for: request)
        return DashboardSnapshot(
            now: wall.text(of: now), lastEventId: id(ofEvent: last), tab: query.tab.rawValue,
            filter: (query.pending?.filter).map { DashboardSnapshot.Filter($0) },
            incidents: await engine.incidents().map { IncidentDocument($0, wall: wall, mayCommand: view.mayCommand) },
            rehearsals: await engine.currentRehearsals().map { RehearsalDocument($0, wall: wall) },
            counts: StateCounts.document(await engine.counts()),
            data: entries.map { EntryDocument($0, view) }, nextCursor: nextCursor?.description,
            reachability: ReachabilityDocument(await engine.reachabilityView(), wall: wall),
            tunnels: StatusDocument.Tunnels(sources.metrics),
            role: access.role(of: request) ?? .viewer, isLoggedIn: sessions.role(of: request) != nil,
            proxy: sources.proxyURLs(), problem: problem)
    }

    private func file(_ request: Request, _ context: AdminContext) throws -> Response {
        guard let name = context.parameters.get("file"), let file = DashboardFile.all[name] else { throw AdminProblem.notFound }
        try refuseParameters(request)
        var fields: HTTPFields = [.eTag: file.tag, .cacheControl: "no-cache"]
        if request.headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: fields) }
        fields[.contentType] = file.type
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: file.bytes))
    }
}

/// A file of the dashboard, embedded in the binary.
struct DashboardFile: Sendable {
    let bytes: ByteBuffer
    let type: String
    /// The entity tag is made of the content: a new version of the program is seen at once, and an unchanged file is not sent again.
    let tag: String

    private init(_ content: [UInt8], type: String) {
        bytes = ByteBuffer(bytes: content)
        self.type = type
        let digest = (try? SHA256.digest(of: content)) ?? []
        let digits = Hexadecimal.text(of: digest.prefix(16))
        // Without a digest no tag may match: `*` is no entity tag of a response.
        tag = digits.isEmpty ? "\"none\"" : "\"\(digits)\""
    }

    private static let script = "text/javascript; charset=utf-8"

    static let all: [String: DashboardFile] = [
        "api.js": .init(PackageResources.api_js, type: script),
        "app.js": .init(PackageResources.app_js, type: script),
        "banner.js": .init(PackageResources.banner_js, type: script),
        "bars.js": .init(PackageResources.bars_js, type: script),
        "commands.js": .init(PackageResources.commands_js, type: script),
        "curl.js": .init(PackageResources.curl_js, type: script),
        "detail.js": .init(PackageResources.detail_js, type: script),
        "dialogs.js": .init(PackageResources.dialogs_js, type: script),
        "filter.js": .init(PackageResources.filter_js, type: script),
        "guard.js": .init(PackageResources.guard_js, type: script),
        "keys.js": .init(PackageResources.keys_js, type: script),
        "lists.js": .init(PackageResources.lists_js, type: script),
        "plot.js": .init(PackageResources.plot_js, type: script),
        "selection.js": .init(PackageResources.selection_js, type: script),
        "state.js": .init(PackageResources.state_js, type: script),
        "stream.js": .init(PackageResources.stream_js, type: script),
        "table.js": .init(PackageResources.table_js, type: script),
        "text.js": .init(PackageResources.text_js, type: script),
        "theme.js": .init(PackageResources.theme_js, type: script),
        "times.js": .init(PackageResources.times_js, type: script),
        "style.css": .init(PackageResources.style_css, type: "text/css; charset=utf-8"),
        "icon.svg": .init(PackageResources.icon_svg, type: "image/svg+xml"),
    ]
}
