import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The head of a live entry's request, its body as the client sent it, and the body of a ticket's response as it came.
extension AdminRoutes {
    func requestBody(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        guard access.isAdmin(request) else { throw AdminProblem.bodyMasked }
        let entry = try await entry(context)
        guard !entry.state.isFinal else { throw AdminProblem.bodyGone }
        guard let captured = try await capturedBody(of: entry) else { throw await problem(entry.id, AdminProblem.bodyOnItsWay) }
        guard let body = captured.body else { return Response(status: .noContent) }
        return try await show(body, type: Self.shownFields(captured.fields)) { await problem(entry.id, .bodyNotKept) }
    }

    /// The head of the request: method, target and fields.
    func requestHead(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        let entry = try await entry(context)
        guard !entry.state.isFinal else { throw AdminProblem.bodyGone }
        guard let captured = try await capturedBody(of: entry) else { throw await problem(entry.id, AdminProblem.bodyOnItsWay) }
        return try json(RequestDocument(entry, fields: captured.fields, view(for: request)))
    }

    func storedTicketResponse(_ request: Request, _ context: AdminContext) async throws -> Response {
        try refuseParameters(request)
        guard access.isAdmin(request) else { throw AdminProblem.bodyMasked }
        let entry = try await entry(context)
        guard entry.state.isFinal else { throw AdminProblem.responsePending(entry) }
        guard entry.ticket != nil, entry.state == .delivered, let store = engine.store, let spool = sources.spool,
            let response = try await store.response(of: entry.id)
        else { throw AdminProblem.noResponse(entry) }
        guard !response.isBodyLost else { throw AdminProblem.responseNotKept }
        let body = CapturedBody(response.body, limits: .init(), spool: spool)
        var fields = Self.shownFields(FieldLines(response.fields, end: .lineBreak))
        fields[.layoverStatus] = String(response.status)
        return try await show(body, type: fields) { .responseNotKept }
    }

    /// From the store for a ticket, from the exchange for any other entry.
    private func capturedBody(of entry: Entry) async throws(StoreFailure) -> HeldBody? {
        if entry.ticket != nil, let store = engine.store, let spool = sources.spool,
            let stored = try await store.request(of: entry.id)
        {
            let body = stored.hasBody ? CapturedBody(stored.body, limits: .init(), spool: spool) : nil
            return HeldBody(body: body, fields: stored.fields)
        }
        return await engine.heldBody(entry.id)
    }

    /// The problem to report: `bodyGone` if the entry has ended in the meantime.
    private func problem(_ id: EntryID, _ problem: AdminProblem) async -> AdminProblem {
        await engine.entry(id)?.state.isFinal == false ? problem : .bodyGone
    }

    private func show(
        _ body: CapturedBody, type fields: HTTPFields, orElse problem: () async -> AdminProblem
    ) async throws -> Response {
        let portions = BodyPortions(of: body)
        // An unreadable body is found before the response begins.
        let first: ByteBuffer?
        do {
            first = try await portions.portion(at: 0)
        } catch {
            throw await problem()
        }
        let shown = ResponseBody(contentLength: portions.byteCount) { writer in
            var portion = first
            var offset = 0
            while let bytes = portion {
                offset += bytes.readableBytes
                try await writer.write(bytes)
                portion = try await portions.portion(at: offset)
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: fields, body: shown)
    }

    /// The type of the body, and fields so that no browser shows it as a page of the admin port.
    private static func shownFields(_ all: some Sequence<FieldSlice>) -> HTTPFields {
        var fields: HTTPFields = [.contentType: "application/octet-stream", .contentDisposition: "attachment"]
        for field in all where field.hasValue {
            if field.isNamed("content-type") { fields[.contentType] = field.text }
            if field.isNamed("content-encoding") { fields[.contentEncoding] = field.text }
        }
        return fields
    }
}

extension HTTPField.Name {
    /// The status of a response that is shown later, by itself.
    static let layoverStatus = HTTPField.Name(token: "layover-status")
}

/// A body as far as it has arrived, read portion by portion, without an effect on the attempt that sends it.
struct BodyPortions: Sendable {
    /// The disk or a limit cut it off, or it is no longer kept.
    struct BrokenOff: Error {}

    /// Bytes at once. Default: 64 KiB.
    private static let portionByteCount = 64 << 10

    /// Kept here, or its file would be closed.
    private let body: CapturedBody
    /// The bytes that had arrived at the call. Later bytes are not shown.
    let byteCount: Int

    init(of body: CapturedBody) {
        self.body = body
        byteCount = body.receivedByteCount
    }

    /// Some of the bytes at an offset; nil behind the last.
    func portion(at offset: Int) async throws -> ByteBuffer? {
        guard offset < byteCount else { return nil }
        try Task.checkCancellation()
        let countMax = min(Self.portionByteCount, byteCount - offset)
        guard let bytes = await body.peek(at: offset, upTo: countMax) else { throw BrokenOff() }
        return bytes
    }
}
