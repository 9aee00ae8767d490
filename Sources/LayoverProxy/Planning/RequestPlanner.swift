import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// Reads what a request asks for and makes a plan, or refuses it. No state, no I/O.
///
/// A class, because each call of a loop's struct would copy the configuration.
final class RequestPlanner {
    let configuration: ProxyConfiguration
    let viaLine: [UInt8]
    let viaToken: [UInt8]
    let addressGuard: any AddressGuard

    init(configuration: ProxyConfiguration, addressGuard: any AddressGuard) {
        self.configuration = configuration
        self.addressGuard = addressGuard
        viaLine = configuration.viaLine
        viaToken = Array(configuration.viaIdentity.utf8)
    }

    /// - Parameters:
    ///   - isLoopback: Whether the client is on this machine.
    ///   - cache: The connection's memory of the address before.
    ///   - intercepted: The origin that the connection is for, if it was intercepted; nil: it is a connection to the proxy.
    ///   - isSecure: Whether the client speaks TLS to us.
    ///   - reachedAt: Address and port of ours that the connection came to, as far as it has them.
    func plan(
        _ head: RequestHead, isLoopback: Bool, cache: inout RequestAddressCache, intercepted: Origin? = nil, isSecure: Bool = false,
        reachedAt: @autoclosure () -> OwnAddress? = nil
    ) throws(Refusal) -> RequestPlan {
        if head.hasUnknownExpectation {
            throw Refusal(
                417, "expectation", "Only the expectation 100-continue is supported.",
                error: .httpRequestError, closes: true)
        }
        if head.hasViaToken(viaToken) { throw loop() }
        if head.method == .connect, intercepted != nil { throw Self.connectInside }
        if head.method == .connect { return try planTunnel(head, isLoopback: isLoopback, cache: &cache) }
        if head.maxForwards == 0 { return .answer(answerAsFinalRecipient(head)) }
        let inside = try addressInside(intercepted, of: head, &cache)
        if let address = inside ?? cache.address(of: head) {
            let target = Self.target(of: head)
            let route = matchingRoute(head, address, target)
            var isRouted = false
            if let route {
                isRouted = true
                try checkKey(of: route, in: head, isInPath: false)
            }
            let plan = try planForward(
                head, to: address, target: target, by: route, isCleared: cache.isCleared && !isRouted)
            // A refusal throws before this line. So an address that was refused is checked again for the next request.
            cache.isCleared = !isRouted
            return plan
        }
        return try planForOurselves(head, isSecure: isSecure, reachedAt: reachedAt())
    }

    /// A target in absolute form, or one that a route led to.
    func planForward(
        _ head: RequestHead, to address: RequestAddress, target: String, by route: Route?,
        isCleared: Bool = false
    ) throws(Refusal) -> RequestPlan {
        var (address, target) = (address, target)
        // Each look at a route copies it.
        var (name, allowAddresses, supportsHTTP2): (String?, [String], Bool) = (nil, [], false)
        var upstream: Route.Upstream?
        if let route {
            (name, allowAddresses, supportsHTTP2) = (route.name, route.allowAddresses, route.supportsHTTP2)
            upstream = route.upstream
        }
        if let upstream {
            address = RequestAddress(origin: upstream.origin, host: upstream.origin.hostField)
            target = target == "*" && !upstream.basePath.isEmpty ? upstream.basePath : upstream.basePath + target
        }
        if !isCleared { try refuseOwn(address.origin, allow: allowAddresses) }
        let wish = try wish(of: head)
        let policy = try policy(wish, route: route)
        let isUpgrade = Self.isRelayed(upgradeOf: head)
        // A tunnel cannot be collected later.
        let ticket = isUpgrade ? nil : try ticketWish(of: head, policy, route)
        let hasKey = (name != nil || head.fields.contains(.idempotencyKey)) && hasIdempotencyKey(head, route)
        let repeatability = Repeatability(
            isUpgrade ? .upgrade : .transfer, method: head.methodString, hasIdempotencyKey: hasKey, isDeclared: policy.repeatable)
        let (fields, places) = fields(
            of: head, route: route, honoursPrefer: ticket?.isHonoured == true, keepsUpgrade: isUpgrade)
        var request = UpstreamRequest(
            purpose: repeatability.purpose, origin: address.origin, method: repeatability.method, target: target,
            host: address.host, fields: fields,
            framing: head.framing, expectsContinue: head.expectsContinue,
            mayBeSentTwice: repeatability.mayBeSentTwice, timeouts: timeouts(of: route),
            allowAddresses: allowAddresses, supportsHTTP2: supportsHTTP2, parentProxy: parentProxy(for: address.origin, by: name))
        request.places = places
        let order = try order(of: head, policy, request)
        let plan = ForwardPlan(
            request: request, policy: policy, route: name, by: configuration.routes, hasIdempotencyKey: hasKey, wish: wish)
        plan.order = order
        guard var ticket else {
            guard plan.order.after.isEmpty else { throw badField("Layover-After is allowed for tickets only.") }
            return .forward(plan)
        }
        try checkIdempotencyKey(of: head)
        if head.fields.contains(.idempotencyKey) { plan.digest = try digest(of: head, plan.request, route) }
        // What waits for another ticket is not tried first.
        let waitsForTickets = !plan.order.after.isEmpty || TicketTokens.areInHead(of: plan.request)
        if ticket.isWhenAway, waitsForTickets || plan.order.lane != nil {
            ticket = try always(ticket)
            (plan.request.fields, plan.request.places) = self.fields(of: head, route: route, honoursPrefer: true)
        }
        plan.isAcceptedAtOnce = ticket.wait == .zero || waitsForTickets
        plan.ticket = plan.isAcceptedAtOnce ? ticket.atOnce : ticket
        return .forward(plan)
    }

    /// Whether the connection may become a tunnel: a WebSocket (RFC 6455 section 4.1). Other protocols are not offered to the origin,
    /// which then answers in this one (RFC 9110 section 7.8).
    private static func isRelayed(upgradeOf head: RequestHead) -> Bool {
        guard head.upgradeRequested, head.method == .get, head.framing == .none else { return false }
        let values = head.fields.values(.upgrade)
        return values.count == 1 && head.fields.equalsIgnoringCase(values[0], "websocket")
    }

    private func planTunnel(
        _ head: RequestHead, isLoopback: Bool, cache: inout RequestAddressCache
    ) throws(Refusal) -> RequestPlan {
        guard let address = cache.address(of: head) else {
            throw .malformed("The target of CONNECT is not host:port.")
        }
        guard isLoopback || configuration.connectPorts.contains(address.origin.port) else {
            throw Refusal(
                403, "connect_port", "The port of CONNECT is not in proxy.connectPorts.",
                error: .httpRequestDenied)
        }
        let route = matchingRoute(head, address, "/")
        try refuseOwn(address.origin, allow: route?.allowAddresses ?? [])
        let repeatability = Repeatability(.dial, method: "CONNECT")
        // For a parent proxy that is asked for the tunnel. No other field of CONNECT goes on.
        var fields = RequestFields()
        head.writeVia(into: &fields, own: viaToken)
        let request = UpstreamRequest(
            purpose: repeatability.purpose, origin: address.origin, method: repeatability.method,
            target: address.origin.authority, host: address.host, fields: fields,
            mayBeSentTwice: repeatability.mayBeSentTwice, timeouts: timeouts(of: route),
            allowAddresses: route?.allowAddresses ?? [], parentProxy: parentProxy(for: address.origin, by: route?.name))
        let wish = try wish(of: head)
        let plan = ForwardPlan(
            request: request, policy: try policy(wish, route: route), route: route?.name, by: configuration.routes,
            hasIdempotencyKey: false,
            wish: wish)
        return configuration.routes.intercepts(address.origin.host) ? .intercept(plan) : .forward(plan)
    }

    private func parentProxy(for origin: Origin, by route: String?) -> ParentProxy? {
        configuration.routes.hasParentProxies ? configuration.routes.parentProxy(for: origin, route: route) : nil
    }

    private func matchingRoute(
        _ head: RequestHead, _ address: RequestAddress, _ target: String
    ) -> Route? {
        if configuration.routes.isEmpty { return nil }
        return configuration.routes.route(
            host: address.origin.host, path: target, method: head.methodString)
    }

    // MARK: Refusals

    /// Literal addresses of our own are refused here; names that resolve to them when they are connected.
    private func refuseOwn(_ origin: Origin, allow: [String]) throws(Refusal) {
        guard
            let kind = addressGuard.refusal(ofLiteral: origin.host, port: origin.port, allow: allow)
        else { return }
        if kind == .proxyLoopDetected { throw loop() }
        throw Refusal(
            403, kind.rawValue, "The proxy does not connect to this address.", error: kind)
    }

    private func loop() -> Refusal {
        Refusal(
            502, FailureKind.proxyLoopDetected.rawValue,
            "The target is this proxy itself (a loop).", error: .proxyLoopDetected)
    }
}
