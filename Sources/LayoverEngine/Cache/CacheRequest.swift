package import LayoverCore
package import LayoverHTTP

/// A request as the cache sees it: as it goes upstream, because the response belongs to that form.
package struct CacheRequest: Sendable {
    package var origin: Origin
    /// The method token as the client sent it.
    package var method: String
    /// Path and query byte for byte.
    package var target: String
    /// As in `UpstreamRequest`.
    package var fields: RequestFields
    package var hasBody: Bool

    package init(origin: Origin, method: String, target: String, fields: RequestFields, hasBody: Bool = false) {
        self.origin = origin
        self.method = method
        self.target = target
        self.fields = fields
        self.hasBody = hasBody
    }
}
