package import LayoverCore
package import LayoverHTTP
package import NIOCore

/// A stored request: all that a later attempt needs, besides what the configuration of that time adds.
package struct StoredRequest: Sendable, Hashable {
    package var origin: Origin
    /// The method token as the client sent it.
    package var method: String
    /// Path and query byte for byte, or `*`.
    package var target: String
    /// The value of the Host field.
    package var host: String
    /// As in `UpstreamRequest`.
    package var fields: RequestFields
    package var body: StoredBody
    /// Whether the request has a body; an empty one has its `Content-Length: 0`.
    package var hasBody: Bool
    /// The trailers of the request. Nil: the request has none. Otherwise the body goes chunked.
    package var trailers: RequestFields?
    /// Whether the request carries tokens that are to be replaced before it is sent.
    package var hasTokens: Bool

    package init(
        origin: Origin, method: String, target: String, host: String, fields: RequestFields,
        body: StoredBody = .none, hasBody: Bool = false, trailers: RequestFields? = nil, hasTokens: Bool = false
    ) {
        self.origin = origin
        self.method = method
        self.target = target
        self.host = host
        self.fields = fields
        self.body = body
        self.hasBody = hasBody
        self.trailers = trailers
        self.hasTokens = hasTokens
    }
}

/// Without its fields and its body: a buffer prints as its bytes.
extension StoredRequest: CustomStringConvertible {
    package var description: String {
        "\(method) \(MaskedURL.text(origin.description + target)), \(fields), "
            + "\(body.byteCount) bytes of body"
    }
}

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

/// Where the bytes of a body lie.
package enum StoredBody: Sendable, Hashable {
    case none
    /// In the row itself.
    case inline(ByteBuffer)
    /// In a file of the spool folder, by its name (`isFileName`). It was written and synced, and so was the
    /// folder, before this value was made.
    case file(name: String, byteCount: Int)

    package var byteCount: Int {
        switch self {
        case .none: 0
        case .inline(let bytes): bytes.readableBytes
        case .file(_, let count): count
        }
    }

    /// The name of the body's file. Nil: the body is in no file.
    package var fileName: String? { if case .file(let name, _) = self { name } else { nil } }

    /// Whether a name is one that a row may hold: the ticket's id, and what the body belongs to. Other files of the
    /// spool folder belong to others and are left alone.
    package static func isFileName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && EntryID(parts[0]) != nil && (parts[1] == "request" || parts[1] == "answer")
    }
}
