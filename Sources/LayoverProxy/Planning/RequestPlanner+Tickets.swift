import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverSystem
import NIOCore

/// The wishes of a request about becoming a ticket, and about its order among others.
extension RequestPlanner {
    /// The client's wish for a ticket. Nil: the client waits on its connection and takes nothing else.
    func ticketWish(
        of head: RequestHead, _ policy: Policy, _ route: Route?
    ) throws(Refusal) -> TicketWish? {
        guard policy.mode != .pass, configuration.offersTickets else { return nil }
        guard let preferences = head.preferences, preferences.respondsAsync, case let rule = route?.async ?? policy.async, rule != .never
        else { return policy.mode == .defer ? try atOnce(applied: "") : nil }
        let applied = "respond-async" + (preferences.wait.map { ", wait=\($0)" } ?? "")
        let isWhenAway = rule == .whenAway && policy.mode != .defer
        switch preferences.wait {
        case nil where isWhenAway: return TicketWish(applied: applied, isWhenAway: true)
        case nil, 0: return try atOnce(applied: applied)
        case let wait?: return TicketWish(wait: .seconds(wait), applied: applied, isWhenAway: isWhenAway)
        }
    }

    /// The wish of a request with a lane, parents or tokens: its place among others counts from its acceptance, so the preference is
    /// honoured here under `whenAway` too.
    func always(_ wish: TicketWish) throws(Refusal) -> TicketWish {
        guard let wait = wish.wait else { return try atOnce(applied: wish.applied) }
        return TicketWish(wait: wait, applied: wish.applied)
    }

    /// A client that does not wait is told at once where nothing can be accepted.
    private func atOnce(applied: String) throws(Refusal) -> TicketWish {
        guard let failure = configuration.noTickets else { return TicketWish(wait: .zero, applied: applied) }
        throw Refusal(problem: Problem(notOpen: failure), closes: true)
    }

    /// `Priority`, `Layover-Lane` and `Layover-After`, and the lane of its policy.
    func order(
        of head: RequestHead, _ policy: Policy, _ request: UpstreamRequest
    ) throws(Refusal) -> OrderWish {
        var order = OrderWish()
        if head.fields.contains(.priority) { order.priority = head.urgency }
        if let rule = policy.lane { order.lane = lane(rule, head, request) }
        guard head.fields.contains(.layover) else { return order }
        if let name = try single("Layover-Lane", in: head) {
            guard (1...Self.laneLengthMax).contains(name.utf8.count) else {
                throw badField("Layover-Lane must have 1 to \(Self.laneLengthMax) bytes.")
            }
            order.lane = name
        }
        // A list may stand on several lines (RFC 9110 section 5.3).
        let after = head.fields.values(of: "Layover-After").map { head.fields.string($0) }
        if !after.isEmpty { order.after = try parents(after.joined(separator: ",")) }
        return order
    }

    /// Longest name of a lane, in bytes. Default: 200.
    private static let laneLengthMax = 200
    /// Most tickets that one may come after. Default: 64.
    private static let parentCountMax = 64

    private func parents(_ text: String) throws(Refusal) -> [EntryID] {
        var ids: [EntryID] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let id = EntryID(part.filter { $0 != " " && $0 != "\t" }) else {
                throw badField("Layover-After must be a list of ticket ids.")
            }
            if !ids.contains(id) { ids.append(id) }
        }
        guard ids.count <= Self.parentCountMax else {
            throw badField("Layover-After names more than \(Self.parentCountMax) tickets.")
        }
        return ids
    }

    private func lane(_ rule: LaneRule, _ head: RequestHead, _ request: UpstreamRequest) -> String {
        let origin = request.origin.description
        switch rule {
        case .origin: return origin
        case .path(let count):
            let path = request.target.prefix { $0 != "?" }
            return origin + "/" + path.split(separator: "/").prefix(count).joined(separator: "/")
        case .field(let name):
            let wanted = Array(name.lowercased().utf8)
            let range = head.fields.ranges.first { range in
                Array(head.fields.string(range.name).lowercased().utf8) == wanted
            }
            return origin + " " + name.lowercased() + "=" + (range.map { head.fields.string($0.value) } ?? "")
        }
    }

    /// Whether a key identifies the request: one of the client's, or one of the route.
    func hasIdempotencyKey(_ head: RequestHead, _ route: Route?) -> Bool {
        switch clientKey(of: head) {
        case .one: true
        case .none, .empty: route?.addsIdempotencyKey == true
        case .several: route?.setFields.contains(where: \.isIdempotencyKey) == true
        }
    }

    /// The `Idempotency-Key` that a client sent. An empty one is no key.
    enum ClientKey { case none, empty, one, several }

    func clientKey(of head: RequestHead) -> ClientKey {
        guard head.fields.contains(.idempotencyKey) else { return .none }
        let values = head.fields.values(of: "Idempotency-Key")
        if values.count > 1 { return .several }
        return values.allSatisfy { Repeatability.isKey(head.fields.string($0)) } ? .one : .empty
    }

    /// At most one key, and not an empty one: of two it is unknown which one identifies the request, and an empty one would identify
    /// all of them. A request that asks for no ticket is passed on as it came.
    func checkIdempotencyKey(of head: RequestHead) throws(Refusal) {
        switch clientKey(of: head) {
        case .none, .one: break
        case .several: throw badKey("Idempotency-Key is given more than once.")
        case .empty: throw badKey("Idempotency-Key is empty.")
        }
    }

    private func badKey(_ detail: String) -> Refusal {
        Refusal(400, "idempotency_key", detail, error: .httpRequestError)
    }

    func digest(of head: RequestHead, _ request: UpstreamRequest, _ route: Route?) throws(Refusal) -> PayloadDigest? {
        guard let key = head.fields.string(.idempotencyKey) else { return nil }
        do {
            return try PayloadDigest(
                key: key, identity: identity(of: head) + identity(of: route), method: request.method,
                origin: request.origin, target: request.target)
        } catch {
            throw Refusal(500, "internal", "\(error)", error: .proxyInternalError)
        }
    }

    /// The identity of a route that sets or adds fields: such fields may say who the client is, so keys of other routes are different keys.
    /// The identity is the route's name, because the values of its fields may change.
    private func identity(of route: Route?) -> [String] {
        guard let route, !route.setFields.isEmpty || !route.addFields.isEmpty else { return [] }
        return ["layover-route", route.name]
    }

    /// The identity of a client: the names and values of the identifying fields, sorted by name.
    private func identity(of head: RequestHead) -> [String] {
        let names = Set(CredentialFields.ofRequests + [CredentialFields.ofProxy] + configuration.identityFields.map { $0.lowercased() })
        var lines: [(name: String, value: String)] = []
        for range in head.fields.ranges {
            let name = head.fields.string(range.name).lowercased()
            guard names.contains(name) else { continue }
            let value = head.fields.string(range.value)
            lines.append((name, name == CredentialFields.ofProxy ? proxyIdentity(value) : value))
        }
        // Two lines of one name stay in their order: it may mean something.
        let sorted = lines.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
        return sorted.flatMap { [$0.element.name, $0.element.value] }
    }

    /// The identity of a client at the proxy. A user is the same with a new password.
    private func proxyIdentity(_ value: String) -> String {
        configuration.users.isEmpty ? value : ProxyCredential.parts(of: value)?.name ?? value
    }
}

/// Tells whether two requests with the same `Idempotency-Key` are the same request.
struct PayloadDigest {
    /// Nil once OpenSSL has failed; the request is then equal to no other one.
    var payload: SHA256?
    /// Stands in for a digest that failed. Random, so no other request has it.
    private let replacement: [UInt8]
    /// The key of the mark; it is known before the body is.
    let key: [UInt8]

    /// - Parameters:
    ///   - key: The value of `Idempotency-Key`.
    ///   - identity: Who asks: a guessed key gives no access to the ticket of another client.
    init(key: String, identity: [String], method: String, origin: Origin, target: String) throws {
        var hash = try SHA256()
        for part in [key, origin.description] + identity { try Self.add(part, to: &hash) }
        self.key = try hash.digest()
        var payload = try SHA256()
        for part in [method, target] { try Self.add(part, to: &payload) }
        self.payload = payload
        replacement = try RandomBytes.make(count: SHA256.byteCount)
    }

    /// With its length in front, so that no two lists of parts look the same.
    private static func add(_ part: String, to hash: inout SHA256) throws {
        try hash.update(Array("\(part.utf8.count):\(part)".utf8))
    }

    mutating func update(_ bytes: ByteBuffer) {
        do { try bytes.withUnsafeReadableBytes { try payload?.update($0) } } catch { payload = nil }
    }

    /// A digest that has begun fails only when memory has run out. The request goes on then, and a repetition of it is refused,
    /// as a different request with the same key is: without its digest it could be taken for another request.
    var mark: IdempotencyMark { IdempotencyMark(key: key, payload: (try? payload?.digest()) ?? replacement) }
}
