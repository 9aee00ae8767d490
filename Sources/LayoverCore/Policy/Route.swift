/// Which requests a set of rules is for, and what is done to them on the way.
package struct Route: Sendable, Hashable {
    /// Matches the host of a request.
    package enum HostPattern: Sendable, Hashable {
        case any
        case exact(String)
        /// `*.example.com`: every name below, not the name itself. Holds `example.com`.
        case below(String)
    }

    /// Where a base-URL route sends its requests.
    package struct Upstream: Sendable, Hashable {
        package var origin: Origin
        /// Put before the rest of the path; starts with `/` or is empty, and never ends with one.
        package var basePath: String

        package init(origin: Origin, basePath: String) {
            self.origin = origin
            self.basePath = basePath
        }
    }

    /// Limits on time that a route may set for itself. Nil: the global value.
    package struct Timeouts: Sendable, Hashable {
        package var connect: Duration?
        package var firstByte: Duration?
        package var idle: Duration?
        package var deadPeer: Duration?

        package init() {}
    }

    /// A field name and a value, both as they go on the wire. The value may be a credential, whatever the name says.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: Secret

        package init(name: String, value: String) {
            self.name = name
            self.value = Secret(value)
        }
    }

    package var name: String
    package var host: HostPattern = .any
    package var pathPrefix = "/"
    /// The methods of the route's requests. Nil: every method.
    package var methods: Set<String>?
    package var policy: Policy
    /// Where its requests go instead of their own target. Without a `host` only those that name the route, by its base
    /// URL: no request goes elsewhere unless the route names it.
    package var upstream: Upstream?
    /// Replaces what the client sent.
    package var setFields: [Field] = []
    /// Comes beside what the client sent.
    package var addFields: [Field] = []
    package var removeFields: [String] = []
    package var timeouts = Timeouts()
    /// Who honours `Prefer: respond-async`. A policy with the mode `defer` defers under any rule. Nil: `async` of the policy.
    /// Default: nil.
    package var async: Policy.AsyncRule?
    /// The key that a request has to give before the route is for it: in the path of its base URL, or as `Layover-Key`. Nil: no key.
    /// Default: nil.
    package var key: Secret?
    /// Not nil for the route of notifications. Default: nil.
    package var webhook: Webhook?
    /// Whether CONNECT to its `host` is intercepted: Layover serves TLS there and reads the requests. Default: false.
    package var intercepts = false
    /// Whether a client that has rejected our certificate gets tunnels to its `host` for an hour. Default: false.
    package var interceptFallback = false
    /// The end of a response without a length whose origin ends TLS without close_notify, for clients by HTTP/2.
    package enum UnclosedTLS: String, Sendable, Hashable, CaseIterable {
        /// The stream is reset, because the response may have been cut off on the way.
        case cut
        /// The stream ends as if the response were complete.
        case accept
    }

    /// Default: cut.
    package var unclosedTLS = UnclosedTLS.cut
    /// Link-local and metadata addresses that this route may reach: literal addresses or `address/prefix`.
    package var allowAddresses: [String] = []
    /// Whether HTTP/2 is offered to its origins, where they are `https`. Default: false.
    package var supportsHTTP2 = false
    /// Default: as requests without a route.
    package var way = Way.general

    package init(name: String, policy: Policy) {
        self.name = name
        self.policy = policy
    }

    /// Whether a request is for this route by where it goes. One by its base URL names the route itself.
    package func matches(host requestHost: String, path: some StringProtocol, method: String) -> Bool {
        if let methods, !methods.contains(method) { return false }
        if host == .any, upstream != nil { return false }
        return host.matches(requestHost) && (pathPrefix == "/" || path.hasPrefix(pathPrefix))
    }
}

extension Route.HostPattern {
    /// - Parameter host: In lower case. A dot at its end marks it as complete; it is the same host.
    package func matches(_ host: String) -> Bool {
        if host.utf8.last == UInt8(ascii: "."), self != .any { return matches(String(host.dropLast())) }
        return switch self {
        case .any: true
        case .exact(let name): host == name
        case .below(let parent): host.utf8.count > parent.utf8.count + 1 && host.hasSuffix("." + parent)
        }
    }
}

extension Route {
    /// Whether the route gives each request an `Idempotency-Key`, so that an origin that knows the field can tell a second
    /// sending from a second request.
    package var addsIdempotencyKey: Bool { (setFields + addFields).contains(where: \.isIdempotencyKey) }
}

extension Route.Field {
    /// An empty key is none.
    package var isIdempotencyKey: Bool { name.lowercased() == "idempotency-key" && Repeatability.isKey(value.revealed) }
}

/// Which requests go through the general parent proxy.
package struct ParentProxyRules: Sendable, Hashable {
    /// Hosts that are reached without it. Names are in lower case and without a last dot.
    package enum Exception: Sendable, Hashable {
        case all
        /// The name and every name below, or exactly this address.
        case domain(String)
        /// Every name below, not the name itself.
        case below(String)
        /// `address/prefix`: addresses as they stand in requests; no name is resolved for it.
        case network(String)
    }

    /// The parent proxy of all origins but the exceptions. Nil: there is no such proxy. Default: nil.
    package var general: ParentProxy?
    package var exceptions: [Exception] = []

    package init() {}
}

extension Route {
    /// How the requests of a route go to their origin.
    package enum Way: Sendable, Hashable {
        /// As those without a route.
        case general
        /// Through no parent proxy.
        case direct
        /// Through this one, whatever the exceptions of the general one are.
        case through(ParentProxy)
    }
}

/// How a request by the base URL of a route gave the key of the route. The numbers are on disk.
package enum BaseURLForm: Int, Sendable, Hashable, CaseIterable {
    /// Not in the path: `/.layover/route/{name}/…`.
    case plain = 1
    /// In the path: `/.layover/route/{name}/~{key}/…`.
    case keyed = 2
}
