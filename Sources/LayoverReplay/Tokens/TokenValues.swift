import LayoverHTTP
import LayoverText
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

/// Values from the bodies of responses.
extension TokenValues {
    func json(_ keys: [String], of response: ParentResponse, _ id: String) throws(TokenError) -> [UInt8] {
        let body = try readableBody(of: response, id)
        let found: Result<JSONLookup.Result, JSONLookup.Failure> = body.withUnsafeReadableBytes { bytes in
            do throws(JSONLookup.Failure) {
                return .success(try JSONLookup.value(at: keys, in: bytes, depthMax: limits.jsonDepthMax))
            } catch {
                return .failure(error)
            }
        }
        let part = Token.Part.json(keys)
        switch found {
        case .success(.scalar(let text)):
            return text
        case .success(.absent):
            throw TokenError(.missing, "The response to ticket \(id) has nothing at \(part).")
        case .success(.null):
            throw TokenError(.missing, "The response to ticket \(id) has null at \(part).")
        case .success(.container):
            throw TokenError(.missing, "The response to ticket \(id) has an object or array at \(part), not a value.")
        case .failure(.malformed):
            throw TokenError(.missing, "The response to ticket \(id) has a body that is not valid JSON.")
        case .failure(.tooDeep):
            throw TokenError(.missing, "The response to ticket \(id) is nested deeper than \(limits.jsonDepthMax) levels.")
        }
    }

    private func readableBody(of response: ParentResponse, _ id: String) throws(TokenError) -> ByteBuffer {
        try checkCoding(of: response, id)
        guard let body = response.body else {
            throw TokenError(.missing, "The response body of ticket \(id) was not stored or is too long.")
        }
        guard body.readableBytes <= limits.responseByteCountMax else {
            throw TokenError(
                .missing, "The body of the response to ticket \(id) is longer than \(limits.responseByteCountMax) bytes.")
        }
        return body
    }

    private func checkCoding(of response: ParentResponse, _ id: String) throws(TokenError) {
        switch (response.coding, ContentCoding.list(in: response.fields)) {
        case (.undone, .known), (.asItCame, .known([])):
            break
        case (.broken, .known):
            throw TokenError(.missing, "The response body of ticket \(id) does not match its Content-Encoding.")
        case (.tooLong, .known):
            throw TokenError(
                .missing,
                "The body of the response to ticket \(id) is longer than \(limits.responseByteCountMax) bytes when it is decompressed.")
        case (_, .unknown(let name?)):
            throw TokenError(.missing, "The response to ticket \(id) is compressed with \(name), which is not supported.")
        case (_, .unknown(nil)):
            throw TokenError(.missing, "The response to ticket \(id) is compressed in an unsupported way.")
        case (.asItCame, .known):
            throw TokenError(.missing, "The response to ticket \(id) is compressed, so no value can be read from its body.")
        }
    }
}

/// The value of `~uuid~`.
package enum RequestUUID {
    /// A random UUID, version 4 (RFC 9562 section 5.4), in lower case.
    ///
    /// It goes upstream, so it must have nothing to do with the id of the ticket, which is a secret of its client.
    package static func text(using generator: inout some RandomNumberGenerator) -> String {
        let high = generator.next() & ~0xF000 | 0x4000
        let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
        let digits = Array((Hexadecimal.text(high) + Hexadecimal.text(low)).utf8)
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return groups.map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: "-")
    }
}
