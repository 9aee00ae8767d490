import LayoverHTTP
import NIOCore

@testable import LayoverReplay

/// Ids of two tickets.
let one = "00112233445566778899aabbccddeeff"
let two = "ffeeddccbbaa99887766554433221100"
let uuid = "0b9d5d3e-6f0b-4c53-9f3f-3f6f8b0c7a11"

/// Field lines of a request: each with a NUL.
func requestLines(_ lines: String...) -> RequestFields {
    RequestFields(lines: ByteBuffer(string: lines.map { $0 + "\0" }.joined()))
}

/// Field lines of a response: each with a CRLF.
func responseLines(_ lines: String...) -> ByteBuffer {
    ByteBuffer(string: lines.map { $0 + "\r\n" }.joined())
}

extension TokenRequest {
    static func get(_ target: String, _ fields: RequestFields = [:]) -> Self { .init(target: target, fields: fields) }

    static func json(_ body: String) -> Self {
        .init(target: "/", fields: requestLines("Content-Type: application/json"), body: .init(string: body))
    }

    static func form(_ body: String) -> Self {
        .init(target: "/", fields: requestLines("Content-Type: application/x-www-form-urlencoded"), body: .init(string: body))
    }
}

extension ParentResponse {
    static func created(_ lines: ByteBuffer = .init(), body: String? = nil) -> Self {
        .init(
            status: 201, fields: lines, requestURL: "https://api.example.com/v1/cards?draft=1",
            body: body.map { ByteBuffer(string: $0) })
    }
}

extension Substitution {
    /// To `https://api.example.com`, with a response to ticket `one`.
    init(_ response: ParentResponse, limits: TokenLimits = .init()) {
        self.init(
            values: TokenValues(parents: [one: response], uuid: uuid, limits: limits), origin: "https://api.example.com")
    }
}

/// The error that an expression has thrown; nil if none.
func tokenError(_ body: () throws -> some Any) -> TokenError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? TokenError
    }
}
