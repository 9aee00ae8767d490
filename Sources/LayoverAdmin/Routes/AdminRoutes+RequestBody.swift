import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import NIOCore

/// The captured body of a ticket, as its client sent it.
extension AdminRoutes {
    func requestBody(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        try refuseParameters(request)
        guard bodyGuard.admits(request.headers[.authorization]) else { throw Problem.bodyMasked }
        let entry = try await entry(context)
        guard !entry.state.isFinal else { throw Problem.bodyGone }
        guard entry.ticket != nil, let store = engine.store, let spool = sources.spool else {
            throw Problem.bodyHeld
        }
        guard let stored = try await read(entry.id, from: store) else {
            // Not on disk yet, or already gone.
            let isLive = await engine.entry(entry.id)?.state.isFinal == false
            throw isLive ? Problem.bodyHeld : Problem.bodyGone
        }
        guard stored.hasBody else { return Response(status: .noContent) }
        return try await show(stored, spool)
    }

    private func read(_ id: EntryID, from store: any PendingStore) async throws(Problem) -> StoredRequest? {
        do throws(StoreFailure) {
            return try await store.request(of: id)
        } catch {
            throw .store(error)
        }
    }

    private func show(_ stored: StoredRequest, _ spool: BodySpool) async throws -> Response {
        let portions = BodyPortions(of: stored.body, spool: spool)
        // What cannot be read is found out before anything is said: its ticket may have ended just now.
        let first: ByteBuffer?
        do {
            first = try await portions.next()
        } catch {
            throw Problem.bodyGone
        }
        let body = ResponseBody(contentLength: stored.body.byteCount) { writer in
            var portion = first
            while let bytes = portion {
                try await writer.write(bytes)
                portion = try await portions.next()
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: Self.fields(of: stored), body: body)
    }

    /// What the body is; and that no browser shows it as a page of ours, whatever it is.
    private static func fields(of stored: StoredRequest) -> HTTPFields {
        var fields: HTTPFields = [.contentType: "application/octet-stream", .contentDisposition: "attachment"]
        for line in stored.fields.readableBytesView.split(separator: 0) {
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard parts.count == 2 else { continue }
            let value = String(decoding: parts[1].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
            switch String(decoding: parts[0], as: UTF8.self).lowercased() {
            case "content-type": fields[.contentType] = value
            case "content-encoding": fields[.contentEncoding] = value
            default: break
            }
        }
        return fields
    }
}
