import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverReplay
import NIOCore

extension RequestPlanner {
    /// Path and query as they go upstream, byte for byte.
    static func target(of head: RequestHead) -> String {
        // OPTIONS for a whole server has no path in absolute form (RFC 9112 section 3.2.4).
        if head.method == .options, case .absolute(_, let path) = head.target, path.isEmpty { return "*" }
        var bytes = ByteBuffer()
        head.writeOriginForm(into: &bytes)
        return String(buffer: bytes)
    }

    /// The fields to send: as they came, less what is only for us, plus what a route asks for.
    ///
    /// - Parameters:
    ///   - honoursPrefer: Whether what the client prefers about waiting is done here.
    ///   - keepsUpgrade: Whether the wish for another protocol goes on.
    func fields(
        of head: RequestHead, route: Route?, honoursPrefer: Bool = false, keepsUpgrade: Bool = false
    ) -> (RequestFields, FieldPlaces) {
        var out = RequestFields()
        out.reserveCapacity(head.bytes.readableBytes + viaToken.count + 12)
        var options = ForwardingOptions()
        var key = ClientKey.none
        // Each look at a route copies it.
        var (setFields, addFields): ([Route.Field], [Route.Field]) = ([], [])
        if let route {
            (setFields, addFields) = (route.setFields, route.addFields)
            if route.addsIdempotencyKey { key = clientKey(of: head) }
            var names = route.removeFields + route.setFields.map(\.name)
            // An empty key would stand beside the route's.
            if key == .empty { names.append("Idempotency-Key") }
            options.removedNames = names.map { Array($0.lowercased().utf8) }
        }
        let referer = head.refererWithoutRouteKey
        if referer != nil { options.removedNames.append(Array("referer".utf8)) }
        options.keepsPrefer = !honoursPrefer
        options.keepsUpgrade = keepsUpgrade
        let places = head.writeForwardedFields(into: &out, options: options)
        if let referer { out.append("Referer", referer) }
        if honoursPrefer, let others = head.preferences?.others, !others.isEmpty {
            out.append("Prefer", others.joined(separator: ", "))
        }
        for field in setFields { out.append(field.name, Self.filledIn(field)) }
        for field in addFields {
            // A key that the client chose is the better one.
            if field.isIdempotencyKey, key == .one || key == .several { continue }
            out.append(field.name, Self.filledIn(field))
        }
        head.writeVia(into: &out, own: viaToken)
        return (out, places)
    }

    /// The value, with a UUID where the configuration has `~uuid~`: the same for all attempts of the request.
    private static func filledIn(_ field: Route.Field) -> String {
        guard field.value.revealed.contains("~uuid~") else { return field.value.revealed }
        var generator = SystemRandomNumberGenerator()
        return field.value.revealed.replacing("~uuid~", with: RequestUUID.text(using: &generator))
    }

    func timeouts(of route: Route?, isTicket: Bool = false) -> AttemptTimeouts {
        var timeouts = configuration.attempt
        if isTicket { timeouts.firstByte = configuration.ticketFirstByte }
        guard let own = route?.timeouts else { return timeouts }
        timeouts.connect = own.connect ?? timeouts.connect
        timeouts.firstByte = own.firstByte ?? timeouts.firstByte
        timeouts.idle = own.idle ?? timeouts.idle
        timeouts.deadPeer = own.deadPeer ?? timeouts.deadPeer
        return timeouts
    }

    /// What the request says about its policy.
    func wish(of head: RequestHead) throws(Refusal) -> PolicyWish {
        guard head.fields.contains(.layover) else { return PolicyWish() }
        let mode: Policy.Mode? =
            switch try single("Layover-Mode", in: head) {
            case nil: nil
            case "pass": .pass
            case "hold": .hold
            case "defer": .defer
            default: throw badField("Layover-Mode must be pass, hold or defer.")
            }
        return PolicyWish(name: try single("Layover-Policy", in: head), mode: mode)
    }

    /// The policy in force: `Layover-*` request fields beat the route, the route beats the default.
    func policy(_ wish: PolicyWish, route: Route?) throws(Refusal) -> Policy {
        var policy = route?.policy ?? configuration.routes.standardPolicy
        if let name = wish.name {
            guard let named = configuration.routes.policies[name] else {
                throw badField("Layover-Policy names an unknown policy.")
            }
            policy = named
        }
        if let mode = wish.mode { policy.mode = mode }
        return policy
    }

    func single(_ name: StaticString, in head: RequestHead) throws(Refusal) -> String? {
        let values = head.fields.values(of: name)
        guard values.count <= 1 else { throw badField("\(name) is given more than once.") }
        return values.first.map { head.fields.string($0) }
    }

    func badField(_ detail: String) -> Refusal {
        Refusal(400, "layover_field", detail, error: .httpRequestError, closes: true)
    }
}

extension RequestHead {
    /// Its Referer without the key of a route: a page of a route by its base URL names its own address in each request that it makes,
    /// and the key is for this proxy only. Nil: the Referer has no key.
    fileprivate var refererWithoutRouteKey: ByteBuffer? {
        guard fields.contains(.referer), let value = fields.first(.referer) else { return nil }
        return MaskedRouteKeys.withoutKeys(fields.slice(value).readableBytesView).map { ByteBuffer(bytes: $0) }
    }
}

/// Requests on a connection that was intercepted: they are for the origin that CONNECT named, and for no other.
extension RequestPlanner {
    /// - Parameter intercepted: The origin of the intercepted connection. Nil: the connection is not intercepted.
    /// - Returns: Where the request goes, whatever form its target has. Nil: the connection is not intercepted.
    /// - Throws: 421 if the head names another origin: what it asks for was not what the client's TLS connection is for
    ///   (RFC 9110 section 7.4).
    func addressInside(
        _ intercepted: Origin?, of head: RequestHead, _ cache: inout RequestAddressCache
    ) throws(Refusal) -> RequestAddress? {
        guard let intercepted else { return nil }
        if let named = cache.address(of: head), !Self.isSame(named.origin, intercepted) { throw Self.misdirected }
        if let host = head.hostAuthority {
            let named = Origin(scheme: .https, host: host.host, port: host.port)
            guard Self.isSame(named, intercepted) else { throw Self.misdirected }
        }
        return RequestAddress(origin: intercepted, host: intercepted.hostField)
    }

    /// A dot at the end of a name marks it as complete; it is the same host.
    private static func isSame(_ one: Origin, _ other: Origin) -> Bool {
        if one == other { return true }
        guard one.scheme == other.scheme, one.port == other.port else { return false }
        func bare(_ host: String) -> Substring { host.hasSuffix(".") ? host.dropLast() : host[...] }
        return bare(one.host) == bare(other.host)
    }

    private static let misdirected = Refusal(
        421, "misdirected", "The request names another origin than the CONNECT that opened this connection.", error: .httpRequestError)

    static let connectInside = Refusal(
        405, "method", "CONNECT is not possible inside an intercepted connection.", error: .httpRequestError, closes: true)
}
