import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverReplay
import NIOCore

/// Reads what a ticket's attempt is to send, and puts into it what its tokens stand for.
struct TicketReading: Sendable {
    enum Result: Sendable {
        /// The request with its opened body; nil if it has no body.
        case ready(StoredRequest, CapturedBody?)
        /// The store cannot say now.
        case unreadable(Failure)
        /// The request cannot be made complete: a person has to decide.
        case rejected(Failure)
    }

    let store: any PendingStore
    let replay: TicketReplay
    let limits: CapturedBody.Limits
    let spool: BodySpool

    func read() async -> Result {
        do throws(StoreFailure) {
            guard let request = try await store.request(of: replay.id) else {
                return .rejected(Self.failure("The request of this ticket is not in the store."))
            }
            return try await ready(request)
        } catch  where error.kind == .corrupt {
            // A second reading would give the same.
            return .rejected(Self.failure("The ticket could not be read. \(error.message)"))
        } catch {
            return .unreadable(Self.failure("The store could not be read (\(error.kind.rawValue))."))
        }
    }

    /// Nothing may be sent of what is not there whole.
    private func ready(_ stored: StoredRequest) async throws(StoreFailure) -> Result {
        let body = stored.hasBody ? capturedBody(of: stored) : nil
        switch await body?.opened() {
        case .lost(let text): return .rejected(Self.failure(text))
        case .unreadable(let text): return .unreadable(Self.failure(text))
        case nil: return stored.hasTokens ? try await replaceTokens(in: stored, body) : .ready(stored, body)
        }
    }

    private func capturedBody(of stored: StoredRequest) -> CapturedBody {
        CapturedBody(stored.body, trailers: stored.trailers, limits: limits, spool: spool)
    }

    private func replaceTokens(
        in stored: StoredRequest, _ captured: CapturedBody?
    ) async throws(StoreFailure) -> Result {
        // The responses to its parents may not be committed yet.
        await committed()
        let tokens = TokenLimits()
        var body: ByteBuffer?
        // A longer body was searched when it arrived, and has no tokens.
        if let captured, BodyType(fields: stored.fields) != .other {
            body = await captured.collect(upTo: tokens.bodyByteCountMax)
            if body == nil, captured.summary == .brokenOff {
                return .unreadable(Self.failure("The file of the request body could not be read."))
            }
        }
        var responses: [String: ParentResponse] = [:]
        var settled: Set<String> = []
        for parent in replay.ticket.parents {
            guard let record = try await store.record(of: parent) else { continue }
            if record.settledBy != nil { settled.insert(parent.description) }
            responses[parent.description] = try await response(of: record, upTo: tokens.responseByteCountMax)
        }
        let whole = TokenRequest(target: stored.target, fields: stored.fields, body: body)
        do throws(TokenError) {
            let result = try Substitution(
                values: TokenValues(parents: responses, settled: settled, uuid: nil), origin: stored.origin.description
            ).applied(to: whole)
            var ready = stored
            ready.target = result.target
            ready.fields = result.fields
            guard let body = result.body else { return .ready(ready, captured) }
            ready.body = .inline(body)
            return .ready(ready, capturedBody(of: ready))
        } catch {
            // The request is incomplete: the fault is in it, or in the response to its parent, not in this proxy.
            return .rejected(Self.failure(error.description, .httpRequestError))
        }
    }

    private func response(
        of record: TicketRecord, upTo byteCountMax: Int
    ) async throws(StoreFailure) -> ParentResponse? {
        guard record.state.isFinal else {
            throw StoreFailure(.other, "The response of ticket \(record.id) is not stored yet.")
        }
        guard let response = try await store.response(of: record.id) else { return nil }
        var body: ByteBuffer?
        if !response.isBodyLost { body = try await bytes(of: response.body, upTo: byteCountMax) }
        var parent = ParentResponse(status: response.status, fields: response.fields, requestURL: record.url, body: body)
        parent.decompress(upTo: byteCountMax)
        return parent
    }

    private func committed() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            store.commit([]) { _ in continuation.resume() }
        }
    }

    /// - Returns: Nil if the body is longer, or lost for good.
    /// - Throws: If the body cannot be read now, which says nothing about its content.
    private func bytes(of body: StoredBody, upTo byteCountMax: Int) async throws(StoreFailure) -> ByteBuffer? {
        guard body.byteCount <= byteCountMax else { return nil }
        let captured = CapturedBody(body, limits: limits, spool: spool)
        if case .lost = await captured.opened() { return nil }
        guard let bytes = await captured.collect(upTo: byteCountMax) else {
            throw StoreFailure(.io, "A body could not be read from the spool.")
        }
        return bytes
    }

    static func failure(_ message: String, _ kind: FailureKind = .proxyInternalError) -> Failure {
        Failure(phase: .resolving, kind: kind, evidence: .neverSent, message: message)
    }
}

extension TicketReplay {
    /// The request before it has been read from the store.
    var unreadRequest: UpstreamRequest {
        UpstreamRequest(
            purpose: .transfer, origin: request.origin, method: request.method, target: "", host: "", fields: [:], mayBeSentTwice: false)
    }

    /// The stored request, ready to be sent. Nil: it is a notification whose webhook is gone, or which could not be signed.
    ///
    /// - Parameter route: The route of the ticket, in the newest table.
    func request(_ stored: StoredRequest, _ body: CapturedBody?, by route: Route?, on loop: ProxyLoop) -> UpstreamRequest? {
        var framing = BodyFraming.none
        if stored.hasBody { framing = stored.trailers == nil ? .length(stored.body.byteCount) : .chunked }
        var request = UpstreamRequest(
            purpose: .transfer, origin: stored.origin, method: stored.method, target: stored.target, host: stored.host,
            fields: stored.fields, framing: framing, body: body, mayBeSentTwice: false,
            timeouts: loop.planner.timeouts(of: route, isTicket: true), allowAddresses: route?.allowAddresses ?? [],
            supportsHTTP2: route?.supportsHTTP2 ?? false)
        // The engine counts the attempt at this one, whatever a reload has named since.
        request.parentProxy = routes.parentProxy(for: stored.origin, route: self.route)
        request.takeFields(of: route)
        guard stored.isNotification else { return request }
        guard let webhook = route?.webhook else { return nil }
        return WebhookRequest.address(&request, to: webhook, stored.body, at: loop.wallSeconds) ? request : nil
    }
}
