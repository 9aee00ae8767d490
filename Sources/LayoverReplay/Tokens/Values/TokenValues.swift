import LayoverHTTP
import NIOCore

/// What tokens stand for, once it is known.
package struct TokenValues: Sendable {
    /// The responses to the parents, by ticket id. Nil: tokens of tickets are left as they are.
    package var parents: [String: ParentResponse]?
    /// Parents that have no response, because a person said that they are delivered.
    package var settled: Set<String>
    /// The value of `~uuid~`, the same for all attempts of one request. Nil: `~uuid~` is left as it is.
    package var uuid: String?
    package var limits: TokenLimits

    package init(
        parents: [String: ParentResponse]?, settled: Set<String> = [], uuid: String?, limits: TokenLimits = .init()
    ) {
        self.parents = parents
        self.settled = settled
        self.uuid = uuid
        self.limits = limits
    }

    /// Whether the token is to be replaced.
    func covers(_ token: Token) -> Bool {
        token == .uuid ? uuid != nil : parents != nil
    }

    /// The value, not yet encoded for any place.
    ///
    /// - Throws: `missing` when the response lacks it, or is not a success (a 4xx or 5xx provides nothing);
    ///   `rejected` when it is longer than `valueByteCountMax`.
    package func value(of token: Token) throws(TokenError) -> [UInt8] {
        let value: [UInt8]
        switch token {
        case .uuid:
            guard let uuid else { throw TokenError(.missing, "There is no UUID for this request.") }
            value = Array(uuid.utf8)
        case .ticket(let id, let part):
            let response = try parentResponse(id)
            switch part {
            case .location: value = try location(of: response, id).text
            case .field(let name): value = try field(name, of: response, id)
            case .json(let keys): value = try json(keys, of: response, id)
            }
        }
        guard value.count <= limits.valueByteCountMax else {
            throw TokenError(.rejected, "The value of \(token) is longer than \(limits.valueByteCountMax) bytes.")
        }
        return value
    }

    private func parentResponse(_ id: String) throws(TokenError) -> ParentResponse {
        if settled.contains(id) {
            throw TokenError(
                .missing, "Ticket \(id) was settled by a person, so its response is not known and provides no values.")
        }
        guard let response = parents?[id] else {
            throw TokenError(.missing, "The response of ticket \(id) is not available.")
        }
        guard (200..<400).contains(response.status) else {
            throw TokenError(.missing, "Ticket \(id) was answered with status \(response.status), so it provides no values.")
        }
        return response
    }

    /// The Location of a response: as in the field, and resolved (RFC 9110 section 10.2.2).
    func location(of id: String) throws(TokenError) -> URLReference {
        try location(of: try parentResponse(id), id).resolved
    }

    private func location(
        of response: ParentResponse, _ id: String
    ) throws(TokenError) -> (text: [UInt8], resolved: URLReference) {
        let values = FieldLines(response.fields, end: .lineBreak).values(of: "location")
        guard let value = values.first, value.readableBytes > 0, values.count == 1 else {
            let what = values.count > 1 ? "more than one Location field" : "no Location field"
            throw TokenError(.missing, "The response to ticket \(id) (status \(response.status)) has \(what).")
        }
        let text = Array(value.readableBytesView)
        let reference = URLReference(text)
        let resolved = reference.resolved(against: URLReference(Array(response.requestURL.utf8)))
        return (reference.scheme == nil ? resolved.text : text, resolved)
    }

    private func field(_ name: String, of response: ParentResponse, _ id: String) throws(TokenError) -> [UInt8] {
        let values = FieldLines(response.fields, end: .lineBreak).values(of: name)
        guard !values.isEmpty else {
            throw TokenError(.missing, "The response to ticket \(id) (status \(response.status)) has no field \(name).")
        }
        // RFC 9110 section 5.3: lines of one name are one list. Set-Cookie is the exception.
        guard values.count == 1 || name != "set-cookie" else {
            throw TokenError(.missing, "The response to ticket \(id) has several Set-Cookie fields, which cannot be joined.")
        }
        return Array(values.map { Array($0.readableBytesView) }.joined(separator: ", ".utf8))
    }
}
