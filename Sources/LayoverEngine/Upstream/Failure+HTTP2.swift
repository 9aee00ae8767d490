package import LayoverCore

extension Failure {
    /// A sentence for an origin that ends the TLS handshake because it has no protocol in common with HTTP/1.1, or goes on in HTTP/2.
    package static let hintAtHTTP2 = "If the origin speaks HTTP/2 only, set http2 on its route."
}
