package import NIOCore

/// The body of a cached answer. Stays readable for as long as it is held, whatever is dropped meanwhile.
package protocol CachedBody: AnyObject, Sendable {
    var byteCount: Int { get }
    /// Reads in the background. `done(nil)` on an error; fewer bytes than asked for only at the end.
    func read(at offset: Int, count: Int, done: @escaping @Sendable (ByteBuffer?) -> Void)
}
