/// Why a value cannot be what its key needs. The key adds the path.
struct Refusal: Error, Sendable, Hashable {
    /// Where below the key: `[2]`, `.Authorization`, or nothing.
    var place = ""
    /// What is wrong, without a full stop. Never repeats a secret.
    var message: String
}
