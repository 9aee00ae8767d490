/// What a request's own fields say about its policy (`Layover-Policy`, `Layover-Mode`). It goes on saying so after
/// a reload and a restart.
package struct PolicyWish: Sendable, Hashable {
    package var name: String?
    package var mode: Policy.Mode?

    package init(name: String? = nil, mode: Policy.Mode? = nil) {
        self.name = name
        self.mode = mode
    }
}
