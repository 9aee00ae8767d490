/// Where a body lies and how to tell that it is whole.
struct KeptBody: Sendable, Equatable {
    /// Nil for an empty body.
    var file: String?
    var byteCount: Int
    /// SHA-256 of the bytes; empty for an empty body.
    var digest: [UInt8]
}
