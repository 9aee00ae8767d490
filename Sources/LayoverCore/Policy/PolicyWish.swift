/// The policy that a request's own fields name (`Layover-Policy`, `Layover-Mode`). The wish stays in force after
/// a reload and a restart.
package struct PolicyWish: Sendable, Hashable {
    package var name: String?
    package var mode: Policy.Mode?

    package init(name: String? = nil, mode: Policy.Mode? = nil) {
        self.name = name
        self.mode = mode
    }
}
