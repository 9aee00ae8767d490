import LayoverHTTP
import NIOCore

/// The last piece of a success that came before its request was sent.
///
/// Its client must not take an upload for done while a part of it is in the proxy: that part may still be cut off. The piece is the whole
/// head where there is no body, the bytes that complete a Content-Length, or the end of any other body.
final class WithheldEnd {
    let head: ResponseHead?
    let body: ByteBuffer?
    var trailers: ByteBuffer?

    init(head: ResponseHead? = nil, body: ByteBuffer? = nil) { (self.head, self.body) = (head, body) }
}
