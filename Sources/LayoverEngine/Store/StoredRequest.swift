package import LayoverCore
package import LayoverHTTP

/// A stored request: all that a later attempt needs, besides what the configuration of that time adds.
package struct StoredRequest: Sendable, Hashable {
    package var origin: Origin
    /// The method token as the client sent it.
    package var method: String
    /// Path and query byte for byte, or `*`.
    package var target: String
    /// The value of the Host field.
    package var host: String
    /// As in `UpstreamRequest`.
    package var fields: RequestFields
    package var body: StoredBody
    /// Whether the request has a body; an empty one has its `Content-Length: 0`.
    package var hasBody: Bool
    /// The trailers of the request. Nil: the request has none. Otherwise the body goes chunked.
    package var trailers: RequestFields?
    /// Whether the request carries tokens that are to be replaced before it is sent.
    package var hasTokens: Bool

    package init(
        origin: Origin, method: String, target: String, host: String, fields: RequestFields,
        body: StoredBody = .none, hasBody: Bool = false, trailers: RequestFields? = nil, hasTokens: Bool = false
    ) {
        self.origin = origin
        self.method = method
        self.target = target
        self.host = host
        self.fields = fields
        self.body = body
        self.hasBody = hasBody
        self.trailers = trailers
        self.hasTokens = hasTokens
    }
}

/// Without its fields and its body: a buffer prints as its bytes.
extension StoredRequest: CustomStringConvertible {
    package var description: String {
        "\(method) \(MaskedURL.text(origin.description + target)), \(fields), "
            + "\(body.byteCount) bytes of body"
    }
}
