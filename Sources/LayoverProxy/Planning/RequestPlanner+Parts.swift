import LayoverCore
import LayoverEngine
import LayoverHTTP
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

    static func framing(of head: RequestHead) -> UpstreamRequest.BodyFraming {
        switch head.framing {
        case .none: .none
        case .length(let count): .length(count)
        case .chunked: .chunked
        }
    }

    /// The fields to send: as they came, less what is only for us, plus what a route asks for.
    func fields(of head: RequestHead, route: Route?) -> ByteBuffer {
        var out = ByteBuffer()
        out.reserveCapacity(head.bytes.readableBytes + viaMember.count + 8)
        var options = ForwardingOptions()
        if let route {
            let names = route.removeFields + route.setFields.map(\.name)
            options.removedNames = names.map { Array($0.lowercased().utf8) }
        }
        head.writeForwardedFields(into: &out, options: options)
        for field in (route?.setFields ?? []) + (route?.addFields ?? []) {
            out.writeString(field.value.isEmpty ? "\(field.name);\0" : "\(field.name): \(field.value)\0")
        }
        head.writeVia(into: &out, own: viaMember)
        return out
    }

    func timeouts(of route: Route?) -> AttemptTimeouts {
        var timeouts = rules.attempt
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
        for name: StaticString in ["Layover-Lane", "Layover-After"] where head.fields.contains(name) {
            throw badField("\(name) is not in this version.")
        }
        let mode: Policy.Mode? =
            switch try single("Layover-Mode", in: head) {
            case nil: nil
            case "pass": .pass
            case "hold": .hold
            case "defer": throw badField("Layover-Mode: defer is not in this version.")
            default: throw badField("Layover-Mode is none of pass, hold and defer.")
            }
        return PolicyWish(name: try single("Layover-Policy", in: head), mode: mode)
    }

    /// The policy in force: `Layover-*` request fields beat the route, the route beats the default.
    func policy(_ wish: PolicyWish, route: Route?) throws(Refusal) -> Policy {
        var policy = route?.policy ?? rules.routes.standardPolicy
        if let name = wish.name {
            guard let named = rules.routes.policies[name] else {
                throw badField("Layover-Policy names no policy of the configuration.")
            }
            policy = named
        }
        if let mode = wish.mode { policy.mode = mode }
        if policy.mode == .defer { throw badField("The policy \(policy.name) defers, which is not in this version.") }
        return policy
    }

    /// The route and the policy of a request that was accepted under an earlier configuration. Its target
    /// stays what it was. A policy that is gone leaves it with the one of its route.
    func reroute(
        _ request: UpstreamRequest, by name: String?, wish: PolicyWish
    ) -> (route: String?, policy: Policy) {
        let path = request.purpose == .dial ? "/" : request.target
        var route = rules.routes.route(host: request.origin.host, path: path, method: request.method)
        // A base-URL route is found by its name: its requests do not look like it any more.
        if let name, let named = rules.routes.route(named: name), named.upstream?.origin == request.origin {
            route = named
        }
        var kept = wish
        if let name = wish.name, rules.routes.policies[name] == nil { kept.name = nil }
        let policy = (try? policy(kept, route: route)) ?? rules.routes.standardPolicy
        return (route?.name, policy)
    }

    private func single(_ name: StaticString, in head: RequestHead) throws(Refusal) -> String? {
        let values = head.fields.values(of: name)
        guard values.count <= 1 else { throw badField("\(name) stands twice.") }
        return values.first.map { head.fields.string($0) }
    }

    private func badField(_ detail: String) -> Refusal {
        Refusal(400, "layover_field", detail, error: .httpRequestError, closes: true)
    }
}

extension Method {
    /// RFC 9110 section 9.2.2.
    var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        case .post, .connect, .patch, .other: false
        }
    }
}
