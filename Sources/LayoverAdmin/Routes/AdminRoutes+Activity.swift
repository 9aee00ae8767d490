import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine

/// What goes on: origins, lanes, and the last quarter of an hour.
extension AdminRoutes {
    func addActivityRoutes(to router: Router<AdminContext>) {
        router.get("/v1/origins") { request, _ in
            try list(await origins(), request)
        }
        router.get("/v1/lanes") { request, _ in
            let (lanes, view) = (await engine.lanes(), view(for: request))
            return try list(lanes.map { LaneDocument($0, view) }, request)
        }
        router.get("/v1/series") { request, _ in
            try refuseParameters(request)
            let document = SeriesDocument(await engine.activity(), wall: wall)
            return request.acceptsLines ? lines(document.data) : try json(document)
        }
    }

    /// The origins that requests wait for or whose gate is not open, and those with open connections.
    private func origins() async -> [OriginDocument] {
        var counts = await sources.connectionCounts()
        let views = await engine.origins()
        let window = await engine.status().limits.perOriginAttemptCountMax
        let known = views.map { OriginDocument($0, counts.removeValue(forKey: $0.origin) ?? .init(), wall: wall) }
        let others = counts.sorted { $0.key.description < $1.key.description }.map { OriginDocument($0.key, $0.value, window: window) }
        return known + others
    }

    /// A list of one page, or one document a line where the client asks for that.
    func list(_ documents: [some Codable & Sendable], _ request: Request) throws -> Response {
        try refuseParameters(request)
        return request.acceptsLines ? lines(documents) : try json(ListDocument(data: documents, nextCursor: nil))
    }

    /// One document a line.
    func lines(_ documents: [some Codable & Sendable]) -> Response {
        let body = ResponseBody { writer in
            try await ListText(separator: "\n", terminator: "\n").write(documents, to: &writer) { $0 }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/jsonl"], body: body)
    }
}

extension Request {
    /// Whether the client wants a list as one document a line.
    var acceptsLines: Bool { (headers[.accept] ?? "").lowercased().contains("application/jsonl") }
}
