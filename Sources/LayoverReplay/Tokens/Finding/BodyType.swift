package import LayoverHTTP

/// The type of a body, as far as tokens are concerned.
package enum BodyType: Sendable, Hashable {
    /// `application/json` or `application/*+json` (RFC 6839 section 3.1).
    case json
    /// `application/x-www-form-urlencoded`.
    case form
    /// Anything else, also JSON that is compressed. It has no tokens.
    case other

    /// Reads it from Content-Type and Content-Encoding.
    package init(fields: RequestFields) {
        let codings = fields.texts(of: "content-encoding")
        guard codings.allSatisfy({ $0.isEmpty || $0.lowercased() == "identity" }) else {
            self = .other
            return
        }
        let type = fields.texts(of: "content-type").first ?? ""
        let essence = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        if essence == "application/json" || (essence.hasPrefix("application/") && essence.hasSuffix("+json")) {
            self = .json
        } else {
            self = essence == "application/x-www-form-urlencoded" ? .form : .other
        }
    }
}
