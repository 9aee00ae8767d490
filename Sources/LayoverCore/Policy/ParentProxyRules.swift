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
