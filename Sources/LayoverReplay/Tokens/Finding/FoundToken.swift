/// A token in some bytes.
struct FoundToken: Sendable, Hashable {
    var token: Token
    var place: TokenPlace
    /// The bytes from the token's first tilde to its last, in offsets from the first readable byte.
    var range: Range<Int>

    /// Whether the token stands for a whole path.
    var isLocationInPath: Bool {
        guard case .ticket(_, .location) = token else { return false }
        return place == .path
    }
}
