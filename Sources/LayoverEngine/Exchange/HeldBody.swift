package import NIOCore

/// The body of a request whose client waits, for somebody who wants to look at it.
package struct HeldBody: Sendable {
    /// Nil: the request has none. It may still be arriving, and it may have been given up.
    package var body: CapturedBody?
    /// The fields of the request, as in `UpstreamRequest`.
    package var fields: ByteBuffer

    package init(body: CapturedBody?, fields: ByteBuffer) {
        self.body = body
        self.fields = fields
    }
}

/// Without its fields: a buffer prints as its bytes.
extension HeldBody: CustomStringConvertible {
    package var description: String { "\(body == nil ? "no body" : "a body"), \(fields.readableBytes) bytes of fields" }
}
