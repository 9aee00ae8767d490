package import NIOCore

/// The origin's response to a ticket, unchanged.
package struct StoredResponse: Sendable, Hashable {
    package var status: Int
    /// Field lines, each with its CRLF, without what frames the body.
    package var fields: ByteBuffer
    package var body: StoredBody
    /// Whether the body was not kept because a limit or the disk forbade it.
    package var isBodyLost: Bool

    package init(status: Int, fields: ByteBuffer, body: StoredBody, isBodyLost: Bool = false) {
        self.status = status
        self.fields = fields
        self.body = body
        self.isBodyLost = isBodyLost
    }
}
