import LayoverHTTP
import NIOCore

/// What tokens stand for, once it is known.
package struct TokenValues: Sendable {
    /// The answers to the parents, by ticket id. Nil: tokens of tickets are left as they are.
    package var parents: [String: ParentAnswer]?
    /// The same for all attempts of one request. Nil: `~uuid~` is left as it is.
    package var uuid: String?
    package var limits: TokenLimits

    package init(parents: [String: ParentAnswer]?, uuid: String?, limits: TokenLimits = .init()) {
        self.parents = parents
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
            let answer = try answer(to: id)
            switch part {
            case .location: value = try location(of: answer, id).text
            case .field(let name): value = try field(name, of: answer, id)
            case .json(let keys): value = try json(keys, of: answer, id)
            }
        }
        guard value.count <= limits.valueByteCountMax else {
            throw TokenError(.rejected, "The value of \(token) is longer than \(limits.valueByteCountMax) bytes.")
        }
        return value
    }

    private func answer(to id: String) throws(TokenError) -> ParentAnswer {
        guard let answer = parents?[id] else {
            throw TokenError(.missing, "The response of ticket \(id) is not available.")
        }
        guard (200..<400).contains(answer.status) else {
            throw TokenError(.missing, "Ticket \(id) was answered with status \(answer.status), so it provides no values.")
        }
        return answer
    }

    /// The Location of a response: as in the field, and resolved (RFC 9110 section 10.2.2).
    func location(of id: String) throws(TokenError) -> URLReference {
        try location(of: try answer(to: id), id).resolved
    }

    private func location(
        of answer: ParentAnswer, _ id: String
    ) throws(TokenError) -> (text: [UInt8], resolved: URLReference) {
        let values = FieldLines(answer.fields, end: .lineBreak).values(of: "location")
        guard let value = values.first, value.readableBytes > 0, values.count == 1 else {
            let what = values.count > 1 ? "more than one Location field" : "no Location field"
            throw TokenError(.missing, "The response to ticket \(id) (status \(answer.status)) has \(what).")
        }
        let text = Array(value.readableBytesView)
        let reference = URLReference(text)
        let resolved = reference.resolved(against: URLReference(Array(answer.requestURL.utf8)))
        return (reference.scheme == nil ? resolved.text : text, resolved)
    }

    private func field(_ name: String, of answer: ParentAnswer, _ id: String) throws(TokenError) -> [UInt8] {
        let values = FieldLines(answer.fields, end: .lineBreak).values(of: name)
        guard !values.isEmpty else {
            throw TokenError(.missing, "The response to ticket \(id) (status \(answer.status)) has no field \(name).")
        }
        // RFC 9110 section 5.3: lines of one name are one list. Set-Cookie is the exception.
        guard values.count == 1 || name != "set-cookie" else {
            throw TokenError(.missing, "The response to ticket \(id) has several Set-Cookie fields, which cannot be joined.")
        }
        return Array(values.map { Array($0.readableBytesView) }.joined(separator: ", ".utf8))
    }
}
