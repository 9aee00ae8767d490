import Foundation

/// The authorities that the system trusts, as one PEM file.
enum SystemBundle {
    /// Debian and Ubuntu, Fedora, openSUSE, Alpine: the places that Go's crypto/x509 looks at (root_linux.go).
    static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    static func certificates() -> [[UInt8]] { places.lazy.compactMap(BoundedFile.certificates).first { !$0.isEmpty } ?? [] }
}
