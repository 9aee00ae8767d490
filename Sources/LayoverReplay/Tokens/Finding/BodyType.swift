package import NIOCore

/// What a body is, as far as tokens are concerned.
package enum BodyType: Sendable, Hashable {
    /// `application/json` or `application/*+json` (RFC 6839 section 3.1).
    case json
    /// `application/x-www-form-urlencoded`.
    case form
    /// Anything else, also JSON that is compressed. It has no tokens.
    case other

    /// Reads it from Content-Type and Content-Encoding.
    ///
    /// - Parameter fields: Field lines as in `TokenRequest`.
    package init(fields: ByteBuffer) {
        let codings = FieldLines.texts(of: "content-encoding", in: fields)
        guard codings.allSatisfy({ $0.isEmpty || $0.lowercased() == "identity" }) else {
            self = .other
            return
        }
        let type = FieldLines.texts(of: "content-type", in: fields).first ?? ""
        let essence = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        if essence == "application/json" || (essence.hasPrefix("application/") && essence.hasSuffix("+json")) {
            self = .json
        } else {
            self = essence == "application/x-www-form-urlencoded" ? .form : .other
        }
    }
}
