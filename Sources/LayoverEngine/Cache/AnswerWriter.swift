package import NIOCore

/// Takes the body of an answer that is to be kept. For one event loop at a time; never blocks it.
///
/// The cache gives up by itself, silently, when the body passes a limit, when the disk is slower than the origin,
/// or when the answer was outdated meanwhile: a client never waits for the cache. A writer that is let go of
/// without a word is abandoned.
package protocol AnswerWriter: AnyObject, Sendable {
    func append(_ bytes: ByteBuffer)
    /// The answer came whole. Only now it is kept.
    func commit()
    /// It broke off, or nobody reads it to its end: nothing is kept.
    func abandon()
}
