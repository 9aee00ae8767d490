import NIOCore

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
