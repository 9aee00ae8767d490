package import NIOCore

/// The final response to a parent, as far as tokens need it.
package struct ParentResponse: Sendable, Hashable {
    package var status: Int
    /// Field lines, each with its CRLF.
    package var fields: ByteBuffer
    /// The absolute URL of the parent's request, by which a relative Location is resolved. Its own tokens must be replaced in it.
    package var requestURL: String
    /// Nil when it was not kept, or when it is longer than `TokenLimits.responseByteCountMax`.
    package var body: ByteBuffer?
    /// What the body is by now.
    package var coding: Coding

    package enum Coding: Sendable, Hashable {
        /// As it came. Where that is compressed, no value can be read from it.
        case asItCame
        /// Decompressed.
        case undone
        /// The body is not what its Content-Encoding says.
        case broken
        /// The decompressed body is longer than `TokenLimits.responseByteCountMax`.
        case tooLong
    }

    package init(
        status: Int, fields: ByteBuffer, requestURL: String, body: ByteBuffer?, coding: Coding = .asItCame
    ) {
        self.status = status
        self.fields = fields
        self.requestURL = requestURL
        self.body = body
        self.coding = coding
    }
}
