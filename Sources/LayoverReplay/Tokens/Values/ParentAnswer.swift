package import NIOCore

/// The final answer to a parent, as far as tokens need it.
package struct ParentAnswer: Sendable, Hashable {
    package var status: Int
    /// Field lines, each with its CRLF.
    package var fields: ByteBuffer
    /// The absolute URL of the parent's request, by which a relative Location is resolved. Its own tokens must be replaced in it.
    package var requestURL: String
    /// The body as it came; nil when it was not kept, or when it is longer than `TokenLimits.answerByteCountMax`.
    /// One that was decompressed must not have its Content-Encoding in `fields` any more.
    package var body: ByteBuffer?

    package init(status: Int, fields: ByteBuffer, requestURL: String, body: ByteBuffer?) {
        self.status = status
        self.fields = fields
        self.requestURL = requestURL
        self.body = body
    }
}
