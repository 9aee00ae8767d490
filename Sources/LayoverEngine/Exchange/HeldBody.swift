package import LayoverHTTP

/// The body of a request whose client waits, for the admin API.
package struct HeldBody: Sendable {
    /// Nil: the request has none. It may still be arriving, and it may have been given up.
    package var body: CapturedBody?
    /// The fields of the request, as in `UpstreamRequest`.
    package var fields: RequestFields

    package init(body: CapturedBody?, fields: RequestFields) {
        self.body = body
        self.fields = fields
    }
}

/// Without its fields.
extension HeldBody: CustomStringConvertible {
    package var description: String { "\(body == nil ? "no body" : "a body"), \(fields)" }
}
