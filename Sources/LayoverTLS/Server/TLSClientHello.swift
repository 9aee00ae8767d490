import COpenSSL

/// The wishes of a client in its first message (RFC 8446 section 4.1.2). Nothing of it is proven.
package struct TLSClientHello: Sendable, Hashable {
    /// The name that the client wants to reach (SNI, RFC 6066 section 3), as it was sent. Nil: the client sent none, or no valid one.
    package var serverName: String?
    /// The protocols that the client offers, its favourite first (ALPN, RFC 7301). Empty: the client sent none.
    package var protocols: [String]

    package init(serverName: String? = nil, protocols: [String] = []) {
        self.serverName = serverName
        self.protocols = protocols
    }

    /// Reads it within the callback that is called for it (SSL_CTX_set_client_hello_cb(3)).
    init(_ tls: OpaquePointer?) {
        serverName = Self.serverName(Self.bytes(TLSEXT_TYPE_server_name, of: tls))
        protocols = Self.protocols(Self.bytes(TLSEXT_TYPE_application_layer_protocol_negotiation, of: tls))
    }

    private static func bytes(_ type: CInt, of tls: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
        var start: UnsafePointer<UInt8>?
        var count = 0
        guard SSL_client_hello_get0_ext(tls, UInt32(type), &start, &count) == 1 else { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(start: start, count: count)
    }

    /// Length of the list (2 bytes), kind (0), length of the name (2 bytes), name. There is only one kind and one name of it.
    private static func serverName(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard bytes.count > 5, bytes[2] == 0, bytes.count == 5 + (Int(bytes[3]) << 8 | Int(bytes[4])) else { return nil }
        let name = bytes[5...]
        guard name.count <= 255, name.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    /// Length of the list (2 bytes), and each name behind its length (1 byte).
    private static func protocols(_ bytes: UnsafeBufferPointer<UInt8>) -> [String] {
        var rest = bytes.dropFirst(2)
        var names: [String] = []
        while let count = rest.popFirst(), count > 0, rest.count >= count {
            names.append(String(decoding: rest.prefix(Int(count)), as: UTF8.self))
            rest = rest.dropFirst(Int(count))
        }
        return names
    }
}
