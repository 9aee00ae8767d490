package import NIOCore

/// The body of a cached response. Readable as long as it is referenced, even if the cache has dropped it.
package protocol CachedBody: AnyObject, Sendable {
    var byteCount: Int { get }
    /// Reads in the background. `done(nil)` on an error; fewer bytes than asked for only at the end.
    func read(at offset: Int, count: Int, done: @escaping @Sendable (ByteBuffer?) -> Void)
}
