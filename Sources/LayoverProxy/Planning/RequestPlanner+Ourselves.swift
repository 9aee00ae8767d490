import LayoverCore
import LayoverHTTP
import LayoverSystem

/// Requests that are addressed to the proxy itself, in origin form.
extension RequestPlanner {
    static let routePrefix = "/.layover/route/"

    func planForOurselves(_ head: RequestHead, isSecure: Bool, reachedAt: OwnAddress?) throws(Refusal) -> RequestPlan {
        let target = head.targetString
        let host = head.hostAuthority?.host
        let path = target.prefix { $0 != "?" }
        let isOwnHost = isOwnHost(head, isSecure: isSecure, reachedAt: reachedAt)
        if path.hasPrefix(TicketAddress.prefix) {
            // Where a request became a ticket, its client must find it again.
            try refuseForeign(head, isSecure: isSecure, isKnownHost: isOwnHost || host.map(isOfRoute) == true)
            return try planTicket(head, path)
        }
        let routeOfHost = host.flatMap { name in
            configuration.routes.routes.first { route in
                route.host != .any
                    && route.matches(host: name, path: target, method: head.methodString)
            }
        }
        try refuseForeign(head, isSecure: isSecure, isKnownHost: routeOfHost != nil || isOwnHost)
        if target.hasPrefix(Self.routePrefix) { return try planBaseURL(head, target) }
        if let routeOfHost, let authority = head.hostAuthority {
            try checkKey(of: routeOfHost, in: head, isInPath: false)
            let origin = Origin(scheme: .http, host: authority.host, port: authority.port)
            return try planForward(
                head, to: RequestAddress(origin: origin, host: origin.hostField), target: target,
                by: routeOfHost)
        }
        if head.target.isAsterisk { return .answer(Self.options) }
        guard path == "/" else {
            throw Refusal(404, "not_found", "No resource has this path.", error: .httpRequestError)
        }
        guard head.method == .get || head.method == .head else {
            throw Refusal(405, "method", "Only GET and HEAD are allowed.", error: .httpRequestError)
        }
        return .answer(HelpPage.response)
    }

    /// Whether the Host is one of Layover's. The address that the connection came to always is. A page that makes its own name resolve
    /// to this address (DNS rebinding) still sends its own name as Host.
    private func isOwnHost(_ head: RequestHead, isSecure: Bool, reachedAt: OwnAddress?) -> Bool {
        guard let authority = head.hostAuthority else { return true }
        return configuration.allowedHosts.contains(authority.host)
            || reachedAt == OwnAddress(ip: authority.host, port: authority.port ?? (isSecure ? 443 : 80))
    }

    /// Whether a route is for this host, whatever the path and the method.
    private func isOfRoute(_ host: String) -> Bool {
        configuration.routes.routes.contains { route in
            route.host != .any && route.matches(host: host, path: route.pathPrefix, method: route.methods?.first ?? "GET")
        }
    }

    /// `/.layover/route/{name}/…` or `/.layover/route/{name}/~{key}/…`: the rest goes to the route's upstream.
    private func planBaseURL(_ head: RequestHead, _ target: String) throws(Refusal) -> RequestPlan {
        let rest = target.dropFirst(Self.routePrefix.count)
        let name = rest.prefix { $0 != "/" && $0 != "?" }
        guard let route = configuration.routes.route(named: String(name)), let upstream = route.upstream else {
            throw Refusal(
                404, "unknown_route", "No route with an upstream has this name.",
                error: .proxyConfigurationError)
        }
        let tail = rest.dropFirst(name.count)
        let behindKey = Self.behindKey(of: route, in: tail)
        try checkKey(of: route, in: head, isInPath: behindKey != nil)
        if let methods = route.methods, !methods.contains(head.methodString) {
            throw Refusal(405, "method", "The route does not allow this method.", error: .httpRequestDenied)
        }
        let path = behindKey ?? tail
        let address = RequestAddress(origin: upstream.origin, host: upstream.origin.hostField)
        let plan = try planForward(head, to: address, target: path.hasPrefix("/") ? String(path) : "/" + path, by: route)
        if case .forward(let plan) = plan {
            plan.baseURL = BaseURLUse(route: route, upstream: upstream, form: behindKey == nil ? .plain : .keyed)
        }
        return plan
    }

    private func planTicket(_ head: RequestHead, _ path: Substring) throws(Refusal) -> RequestPlan {
        guard let (id, wantsResponse) = TicketAddress.parse(path) else {
            throw Refusal(404, "unknown_ticket", "No ticket has this id.", error: .httpRequestError)
        }
        switch head.method {
        case .get where wantsResponse, .head where wantsResponse:
            return .ticket(TicketQuestion(id: id, ask: .response))
        case .get, .head:
            let wait = head.preferences?.wait.map { min(Duration.seconds($0), TicketQuestion.waitMax) }
            return .ticket(TicketQuestion(id: id, ask: .state(wait: wait ?? .zero)))
        case .delete where !wantsResponse:
            return .ticket(TicketQuestion(id: id, ask: .drop))
        default:
            throw Refusal(
                405, "method", wantsResponse ? "Only GET and HEAD are allowed." : "Only GET, HEAD and DELETE are allowed.",
                error: .httpRequestError)
        }
    }

    /// A web page must not reach a route that carries a token, nor anything else here.
    private func refuseForeign(_ head: RequestHead, isSecure: Bool, isKnownHost: Bool) throws(Refusal) {
        guard isKnownHost else {
            throw Refusal(
                421, "host", "This host is not in proxy.allowedHosts.", error: .httpRequestDenied)
        }
        if let site = head.fields.string(.secFetchSite), site != "same-origin", site != "none" {
            throw foreign()
        }
        if let origin = head.fields.string(.origin) {
            let host = head.hostRange.map { head.fields.string($0) } ?? ""
            guard origin == "\(isSecure ? "https" : "http")://\(host)" else { throw foreign() }
        }
    }

    private func foreign() -> Refusal {
        Refusal(
            403, "foreign_origin", "The request comes from another web site.",
            error: .httpRequestDenied)
    }

    // MARK: Final recipient

    /// `Max-Forwards: 0`: we are the final recipient (RFC 9110 section 7.6.2).
    func answerAsFinalRecipient(_ head: RequestHead) -> OwnResponse {
        guard head.method == .trace else { return Self.options }
        // As it is read: a request by HTTP/2 was written as one of HTTP/1.1.
        var echo = "TRACE \(MaskedRouteKeys.text(head.targetString)) HTTP/1.\(head.version == .http10 ? 0 : 1)\r\n"
        for range in head.fields.ranges where !Self.secret.contains(range.known) {
            echo += "\(head.fields.string(range.name)): \(MaskedRouteKeys.text(head.fields.string(range.value)))\r\n"
        }
        return OwnResponse(status: 200, fields: [("Content-Type", "message/http")], body: echo + "\r\n")
    }

    private static let options = OwnResponse(
        status: 200, fields: [("Allow", "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, TRACE, CONNECT")])

    /// Never echoed (RFC 9110 section 9.3.8).
    private static let secret: Set<KnownField> = [
        .authorization, .cookie, .proxyAuthorization, .proxyAuthenticate, .layover,
    ]
}

extension RequestTarget {
    var isAsterisk: Bool {
        if case .asterisk = self { return true }
        return false
    }
}

/// Routes that only those may use who know their key.
extension RequestPlanner {
    /// Refuses a request that does not give the key of its route.
    ///
    /// - Parameter isInPath: Whether its path gave it.
    func checkKey(of route: Route, in head: RequestHead, isInPath: Bool) throws(Refusal) {
        guard let key = route.key else { return }
        let field = try single("Layover-Key", in: head)
        guard field.map({ Self.isEqual($0, key) }) ?? isInPath else {
            throw Refusal(
                403, "route_key",
                "The key of the route is missing or wrong. Use /.layover/route/<name>/~<key>/… or the field Layover-Key.",
                error: .httpRequestDenied)
        }
    }

    /// The path behind the first segment, if that segment is `~` and the key of the route. Nil: it is another segment.
    ///
    /// `%7E` is the same as `~` (RFC 3986 section 6.2.2.2), and some clients write it.
    static func behindKey(of route: Route, in path: Substring) -> Substring? {
        guard let key = route.key, path.hasPrefix("/") else { return nil }
        let segment = path.dropFirst().prefix { $0 != "/" && $0 != "?" }
        let plain = segment.replacing("%7E", with: "~").replacing("%7e", with: "~")
        guard plain.hasPrefix("~"), isEqual(plain.dropFirst(), key) else { return nil }
        return path.dropFirst(1 + segment.count)
    }

    /// Compares without telling by time how much of a guess was right.
    private static func isEqual(_ guess: some StringProtocol, _ key: Secret) -> Bool {
        ConstantTime.isEqual(Array(guess.utf8), Array(key.revealed.utf8))
    }

    /// Whether a request has to name a user. Not where its path has a secret already: the address of a ticket, or the key of a route,
    /// which is checked later.
    func asksForUser(_ head: RequestHead) -> Bool {
        guard case .origin = head.target else { return true }
        let target = head.targetString
        if target.hasPrefix(TicketAddress.prefix) { return false }
        guard target.hasPrefix(Self.routePrefix) else { return true }
        let name = target.dropFirst(Self.routePrefix.count).prefix { $0 != "/" && $0 != "?" }
        return configuration.routes.route(named: String(name))?.key == nil
    }
}
