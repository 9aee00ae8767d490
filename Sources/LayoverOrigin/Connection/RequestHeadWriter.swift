import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// Writes the heads of all requests that are sent without libcurl (RFC 9112 section 3): plain ones, upgrades, and CONNECT.
enum RequestHeadWriter {
    /// - Returns: Whether the request authenticates the connection, not itself (NTLM, Negotiate).
    @discardableResult
    static func write(_ request: UpstreamRequest, into out: inout ByteBuffer) -> Bool {
        out.reserveCapacity(minimumWritableBytes: request.fields.byteCount * 2 + request.target.utf8.count + request.host.utf8.count + 128)
        writeLine(request.method, request.parentProxy == nil ? request.target : request.wireTarget, into: &out)
        var isBound = false
        request.writeFields(into: &out) { line in
            switch line.first.map({ $0 | 0x20 }) {
            // With a body `expectsContinue` alone decides. Without one the field is passed on, and nothing waits for it.
            case UInt8(ascii: "e"): return !isNamed("expect:", line) || !request.framing.hasBody && isNamed("expect: 100-continue", line)
            case UInt8(ascii: "a"):
                if isNamed("authorization:", line), bindsConnection(line) { isBound = true }
            default: break
            }
            return true
        }
        end(authorization: request.parentProxyAuthorization, into: &out)
        return isBound
    }

    /// Writes the request for a connection to an origin (RFC 9110 section 9.3.6).
    ///
    /// - Parameter fields: The fields of the request that the connection is for. Only `Via` is written: with it, proxies that name each
    ///   other as parent proxies notice the loop (RFC 9110 section 7.6.3).
    static func writeConnect(
        to origin: Origin, through parentProxy: ParentProxy, fields: RequestFields, into out: inout ByteBuffer
    ) {
        let authority = origin.authority
        writeLine("CONNECT", authority, into: &out)
        out.writeString("Host: \(authority)\r\n")
        fields.writeLines(into: &out) { isNamed("via:", $0) }
        end(authorization: parentProxy.authorization, into: &out)
    }

    private static func writeLine(_ method: String, _ target: String, into out: inout ByteBuffer) {
        out.writeString(method)
        out.writeInteger(UInt8(ascii: " "))
        out.writeString(target)
        out.writeStaticString(" HTTP/1.1\r\n")
    }

    /// - Parameter authorization: For the parent proxy that gets the request. Nil: it gets none.
    private static func end(authorization: String?, into out: inout ByteBuffer) {
        if let authorization { out.writeString("Proxy-Authorization: \(authorization)\r\n") }
        out.writeStaticString("\r\n")
    }

    private static func bindsConnection(_ authorization: UnsafeRawBufferPointer) -> Bool {
        let value = authorization.dropFirst("authorization:".utf8.count).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return ["ntlm", "negotiate"].contains { isNamed($0, UnsafeRawBufferPointer(rebasing: value)) }
    }

    /// Whether bytes begin with a text that is in lower case.
    private static func isNamed(_ text: StaticString, _ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= text.utf8CodeUnitCount
            && (0..<text.utf8CodeUnitCount).allSatisfy { index in
                let byte = bytes[index]
                return ((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte) == text.utf8Start[index]
            }
    }
}
