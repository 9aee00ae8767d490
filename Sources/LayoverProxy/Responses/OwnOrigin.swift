import LayoverHTTP
import NIOCore

/// Answers on the proxy's own web origin, `/.layover/…`.
///
/// All routes by base URL and all stored responses share one web origin, although they come from different servers: a page from
/// one route could call another and use the token that this one sets. So every response there says that it is sandboxed: a
/// browser gives it an origin of its own that is not shared, and runs none of its scripts. `nosniff` keeps what is no page
/// from becoming one.
enum OwnOrigin {
    static let path = "/.layover/"

    private static let fields: StaticString =
        "Content-Security-Policy: sandbox\r\nX-Content-Type-Options: nosniff\r\n"

    static func write(into head: inout ByteBuffer) {
        head.writeStaticString(fields)
    }

    /// A status line and fields, with ours in front: of several `X-Content-Type-Options` browsers obey the first, and of
    /// several policies all.
    static func guarding(_ head: ByteBuffer) -> ByteBuffer {
        let bytes = head.readableBytesView
        guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return head }
        var out = ByteBuffer()
        // Room for the fields of ours that follow, too.
        out.reserveCapacity(bytes.count + fields.utf8CodeUnitCount + 256)
        out.writeBytes(bytes[...lineEnd])
        write(into: &out)
        out.writeBytes(bytes[bytes.index(after: lineEnd)...])
        return out
    }
}

extension RequestHead {
    /// Whether a browser counts the response to the proxy's own web origin.
    var isOnOwnOrigin: Bool {
        guard case .origin = target else { return false }
        return bytes.withUnsafeReadableBytes { $0[targetRange].starts(with: OwnOrigin.path.utf8) }
    }
}
