/// A request whose response would replace a cached one: without preconditions and without `Range`, because a 304 or
/// a part would renew nothing for others.
package struct CacheRefresh: Sendable {
    package var request: CacheRequest
    /// Equal for requests that would replace the same response.
    package var key: [UInt8]

    package init(request: CacheRequest, key: [UInt8]) {
        self.request = request
        self.key = key
    }
}
