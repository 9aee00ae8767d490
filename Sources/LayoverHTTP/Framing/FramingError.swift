/// Why bytes are refused. After one of these nothing more can be read from the connection, because
/// nobody knows where the next message would begin.
package struct FramingError: Error, Sendable {
    /// The status to answer a client with: 400, 414, 431, 501 or 505. For responses of an upstream
    /// it is 502.
    package var status: Int

    /// A complete sentence that names the rule. Fixed text: safe to log and to show.
    package var reason: StaticString

    package init(status: Int, reason: StaticString) {
        self.status = status
        self.reason = reason
    }
}

extension FramingError: Equatable {
    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.status == rhs.status && lhs.reason.description == rhs.reason.description
    }
}

extension FramingError: CustomStringConvertible {
    package var description: String { "\(status): \(reason)" }
}

// Every refusal of this module, so that texts and statuses can be read side by side.

extension FramingError {
    private static func bad(_ reason: StaticString) -> Self { Self(status: 400, reason: reason) }

    private static func broken(_ reason: StaticString) -> Self { Self(status: 502, reason: reason) }

    // MARK: Lines and fields (RFC 9112 sections 2.2 and 5)

    static var bareLineFeed: Self { bad("A line ends without a carriage return.") }
    static var bareCarriageReturn: Self { bad("A carriage return stands alone.") }
    static var emptyLines: Self { bad("More than one empty line precedes the request line.") }
    static var foldedField: Self { bad("A field line is folded.") }
    static var fieldWithoutColon: Self { bad("A field line has no colon.") }
    static var emptyFieldName: Self { bad("A field has no name.") }
    static var malformedFieldName: Self { bad("A field name is not a token.") }
    static var spaceBeforeColon: Self { bad("White space stands before the colon of a field.") }
    static var controlInField: Self { bad("A field value contains a control character.") }
    static var headTooLarge: Self {
        Self(status: 431, reason: "The head of the message is too large.")
    }
    static var tooManyFields: Self { Self(status: 431, reason: "The message has too many fields.") }

    // MARK: Request line (RFC 9112 section 3)

    static var malformedMethod: Self { bad("The method is not a token.") }
    static var malformedRequestLine: Self { bad("The request line is malformed.") }
    static var requestLineTooLong: Self {
        Self(status: 414, reason: "The request line is too long.")
    }
    static var malformedVersion: Self { bad("The protocol version is malformed.") }
    static var unsupportedVersion: Self {
        Self(status: 505, reason: "The protocol version is not supported.")
    }
    static var malformedTarget: Self { bad("The request target is malformed.") }
    static var fragmentInTarget: Self { bad("The request target has a fragment.") }
    static var userinfoInTarget: Self { bad("The request target has userinfo.") }
    static var malformedUserinfo: Self { bad("The userinfo of the request target is malformed.") }
    static var unknownScheme: Self { bad("The scheme of the request target is not supported.") }
    static var malformedAuthority: Self {
        bad("The host or port of the request target is invalid.")
    }
    static var asteriskForOthers: Self { bad("Only OPTIONS may have an asterisk as its target.") }
    static var connectWithoutAuthority: Self {
        bad("CONNECT needs a host and a port as its target.")
    }

    // MARK: Meaning of fields (RFC 9112 sections 3.2 and 6)

    static var missingHost: Self { bad("The request has no Host field.") }
    static var severalHosts: Self { bad("The request has more than one Host field.") }
    static var malformedHost: Self { bad("The Host field is not a host with an optional port.") }
    static var severalLengths: Self { bad("The message has more than one Content-Length field.") }
    static var malformedLength: Self { bad("The Content-Length field is invalid.") }
    static var lengthWithEncoding: Self {
        bad("The message has both Content-Length and Transfer-Encoding.")
    }
    static var severalEncodings: Self {
        bad("The message has more than one Transfer-Encoding field.")
    }
    static var malformedEncoding: Self {
        bad("The Transfer-Encoding field is not exactly chunked.")
    }
    static var unknownEncoding: Self {
        Self(status: 501, reason: "The transfer coding is not supported.")
    }
    static var encodingInOldVersion: Self {
        bad("An HTTP/1.0 message has a Transfer-Encoding field.")
    }
    static var bodyOnConnect: Self { bad("A CONNECT request has a body.") }
    static var essentialFieldNominated: Self {
        bad("The Connection field nominates Host, Authorization, Cookie or a framing field.")
    }
    static var malformedMaxForwards: Self { bad("The Max-Forwards field is invalid.") }

    // MARK: Chunks (RFC 9112 section 7.1)

    package static var malformedChunkSize: Self { bad("A chunk size is malformed.") }
    package static var chunkSizeOverflow: Self { bad("A chunk size is too large.") }
    static var malformedChunkExtension: Self { bad("A chunk extension is malformed.") }
    static var chunkLineTooLong: Self { bad("A chunk size line is too long.") }
    static var tooManyChunkExtensions: Self { bad("The message has too many chunk extensions.") }
    package static var malformedChunkEnd: Self {
        bad("The data of a chunk does not end with its line end.")
    }
    package static var trailersTooLarge: Self { bad("The trailer section is too large.") }
    static var tooManyTrailers: Self { bad("The trailer section has too many fields.") }
    static var framingInTrailers: Self {
        bad("The trailer section contains a framing or Host field.")
    }

    // MARK: Responses (RFC 9112 section 4, RFC 9110 section 15)

    static var malformedStatusLine: Self { broken("The status line is malformed.") }
    package static var isHTTP2: Self { broken("The origin answered in HTTP/2, and was asked in HTTP/1.1.") }
    package static var isNoHTTP: Self { broken("The origin answered with bytes that are not HTTP.") }
    package static var isTLS: Self {
        broken("The origin answered with an alert of TLS, and was asked in plain HTTP. Its URL may have to begin with https.")
    }
    static var statusOutOfRange: Self { broken("The status is not between 100 and 999.") }
    package static var unexpectedUpgrade: Self { broken("The origin switched protocols unasked.") }
    package static var tooManyInterimHeads: Self { broken("The origin sent too many interim responses.") }
    static var bodyWithoutPlace: Self {
        broken("The response announces a body where there can be none.")
    }
    static var linesAfterHead: Self { broken("Lines follow the end of the response's head.") }
}

extension FramingError {
    /// Whether a head was refused only because it is longer than its limit.
    package var isLengthOfHead: Bool { isOne(of: [.headTooLarge]) }

    /// Whether a head was refused only because it is longer than its limit, or has more fields than it may have.
    package var isSizeOfHead: Bool { isOne(of: [.headTooLarge, .tooManyFields]) }

    /// The same for trailers.
    package var isSizeOfTrailers: Bool { isOne(of: [.trailersTooLarge, .tooManyTrailers]) }

    /// Whatever the status: each error of a response has 502.
    private func isOne(of errors: [FramingError]) -> Bool { errors.contains { $0.reason.description == reason.description } }
}
