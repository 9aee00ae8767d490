package import NIOCore

/// The parts of a request in which tokens may stand.
package struct TokenRequest: Sendable, Hashable {
    /// Path and query, or `*`.
    package var target: String
    /// Field lines, each as `Name: value` (or `Name;` for an empty value) and a NUL, as they go upstream.
    package var fields: ByteBuffer
    /// Nil when there is none, and when a `TildeSearch` has found no tilde in it.
    package var body: ByteBuffer?

    package init(target: String, fields: ByteBuffer, body: ByteBuffer? = nil) {
        self.target = target
        self.fields = fields
        self.body = body
    }
}
