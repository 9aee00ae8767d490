package import LayoverHTTP
package import NIOCore

/// The parts of a request in which tokens may stand.
package struct TokenRequest: Sendable, Hashable {
    /// Path and query, or `*`.
    package var target: String
    /// As they go upstream.
    package var fields: RequestFields
    /// Nil when there is none, and when a `TildeSearch` has found no tilde in it.
    package var body: ByteBuffer?

    package init(target: String, fields: RequestFields, body: ByteBuffer? = nil) {
        self.target = target
        self.fields = fields
        self.body = body
    }
}
