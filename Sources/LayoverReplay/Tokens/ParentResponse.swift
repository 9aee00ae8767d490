import LayoverHTTP
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

/// How the body of a response is compressed, if it can be decompressed here (RFC 9110 section 8.4.1).
package enum ContentCoding: Sendable, Hashable {
    /// RFC 1952.
    case gzip
    /// RFC 1950; many send RFC 1951 under this name.
    case deflate

    /// The codings of a response body.
    package enum List: Sendable, Hashable {
        /// In the order in which they were applied; empty when there are none.
        case known([ContentCoding])
        /// At least one that cannot be undone, or too many of them. The name, where it is one from the registry
        /// (iana.org/assignments/http-parameters) and so no secret.
        case unknown(name: String?)
    }

    /// One on top of the other is allowed and hardly ever seen; each costs a pass. Default: 3.
    private static let countMax = 3
    private static let otherNames: Set<String> = ["aes128gcm", "br", "compress", "dcb", "dcz", "exi", "pack200-gzip", "zstd"]

    /// - Parameter fields: Field lines, each with its CRLF.
    package static func list(in fields: ByteBuffer) -> List {
        var codings: [ContentCoding] = []
        let names = FieldLines(fields, end: .lineBreak).texts(of: "content-encoding").flatMap { $0.split(separator: ",") }
        for name in names {
            let name = String(name.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }).lowercased()
            switch name {
            case "", "identity": break
            // Section 8.4.1.3: x-gzip is the same.
            case "gzip", "x-gzip": codings.append(.gzip)
            case "deflate": codings.append(.deflate)
            default: return .unknown(name: otherNames.contains(name) ? name : nil)
            }
        }
        return codings.count > countMax ? .unknown(name: nil) : .known(codings)
    }
}
