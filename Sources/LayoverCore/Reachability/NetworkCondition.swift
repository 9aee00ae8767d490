/// What attempts are judged by of the network as a whole.
package struct NetworkCondition: Sendable, Hashable {
    /// Whether the network counts as away, so that a resolver is not to be believed that says a name does not exist.
    package var isAway: Bool
    /// Whether a captive portal answers in place of origins: a certificate that does not convince is then most likely
    /// the portal's.
    package var isBehindPortal: Bool
    /// Whether so many origins in a row could not be reached that the next response of any has to be reported.
    package var isDoubted: Bool

    package init(isAway: Bool = false, isBehindPortal: Bool = false, isDoubted: Bool = false) {
        self.isAway = isAway
        self.isBehindPortal = isBehindPortal
        self.isDoubted = isDoubted
    }
}

extension Reachability {
    package var condition: NetworkCondition {
        .init(isAway: isNetworkAway, isBehindPortal: isBehindPortal, isDoubted: isDoubted)
    }
}
