import LayoverHTTP
import NIOCore

/// All tokens of a request, by where they stand.
struct RequestTokens {
    private(set) var target: [FoundToken] = []
    /// By the number of the field; fields without tokens are not there. Ranges are offsets in the value.
    private(set) var fields: [(number: Int, tokens: [FoundToken])] = []
    private(set) var body: [FoundToken] = []

    var all: [Token] { (target + fields.flatMap(\.tokens) + body).map(\.token) }

    init(_ request: TokenRequest, limits: TokenLimits) throws(TokenError) {
        if request.target.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "%") }) {
            target = try TokenFinder.target(ByteBuffer(string: request.target), limits: limits)
        }
        if request.fields.lines.readableBytesView.contains(UInt8(ascii: "~")) {
            try readFields(request.fields, limits: limits)
        }
        if let bytes = request.body { try readBody(bytes, request.fields, limits: limits) }
        guard target.count + fields.reduce(0, { $0 + $1.tokens.count }) + body.count <= limits.tokenCountMax else {
            throw TokenError(.limit, "The request has more than \(limits.tokenCountMax) tokens.")
        }
    }

    private mutating func readFields(_ all: RequestFields, limits: TokenLimits) throws(TokenError) {
        for (number, field) in all.enumerated() {
            let tokens = try TokenFinder.field(field.name, field.value, limits: limits)
            if !tokens.isEmpty { fields.append((number, tokens)) }
        }
    }

    private mutating func readBody(_ bytes: ByteBuffer, _ fields: RequestFields, limits: TokenLimits) throws(TokenError) {
        let type = BodyType(fields: fields)
        guard type != .other, bytes.withUnsafeReadableBytes({ TildeSearch.hasTilde($0, type) }) else { return }
        body = try TokenFinder.body(bytes, type: type, limits: limits)
        guard body.isEmpty || bytes.readableBytes <= limits.bodyByteCountMax else {
            throw .bodyTooLong(limits)
        }
    }
}
