package import NIOCore

/// Takes the body of a response for the cache. For one event loop at a time; never blocks it.
///
/// The cache drops the response, silently, when the body is over a limit, when the disk is slower than the origin,
/// or when the response was outdated meanwhile: a client never waits for the cache. A writer that is released
/// before `finish` drops it too.
package protocol ResponseWriter: AnyObject, Sendable {
    func append(_ bytes: ByteBuffer)
    /// The response is complete. Only now it is kept.
    func commit()
    /// The response broke off, or is not read to its end: nothing is kept.
    func abandon()
}
