import LayoverHTTP
import NIOCore

extension RequestDecoder {
    /// The name of the next event, or `nothing`.
    mutating func nextKind(_ input: inout ByteBuffer) throws -> String {
        switch try next(&input) {
        case .head: "head"
        case .body: "body"
        case .end: "end"
        case nil: "nothing"
        }
    }
}
