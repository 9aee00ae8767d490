import LayoverCore

/// Decides which callers get bodies.
///
/// With `admin.token` every caller here has sent it. Without one the rest of the API is open to every program on
/// the machine, and bodies need the token in the file `admin-token`, which only its own user can read.
struct BodyGuard: Sendable {
    private let isOpen: Bool
    private let token: BearerToken?

    init(options: AdminOptions) {
        isOpen = options.token != nil
        token = options.bodyToken.map(BearerToken.init)
    }

    /// What the token of a caller makes it. Without any token only this machine is admitted (`admin.listen`).
    func name(ofCallerWith field: String?) -> String { admits(field) ? "admin" : CommandAuthor.loopback.who }

    func admits(_ field: String?) -> Bool { isOpen || token?.admits(field) ?? false }
}
