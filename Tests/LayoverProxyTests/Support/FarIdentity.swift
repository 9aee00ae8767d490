import Foundation
import LayoverTLS
import LayoverTestSupport
import NIOCore
import NIOPosix

/// The certificate of `o.test` and `localhost`, as servers of a test have it, and the trust in it.
final class FarIdentity: Sendable {
    private let folder: TemporaryFolder
    private let threads = NIOThreadPool(numberOfThreads: 1)
    private let leaves: LeafCertificates
    /// Trusts it.
    let trust: TLSClientContext

    init() throws {
        folder = try TemporaryFolder()
        let authority = try CertificateAuthority.loadOrMake(folder: folder.file("tls").path, now: time(nil))
        threads.start()
        leaves = try LeafCertificates(authority: authority, threads: threads, supportsHTTP2: false)
        trust = try TLSClientContext(trustFile: folder.file("tls/ca.pem").path)
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// Serves TLS at the far end of a tunnel.
    var server: @Sendable (any EventLoop) -> TLSChannelHandler {
        { [leaves] loop in TLSServerHandler { leaves.context(for: $0.serverName ?? "o.test", on: loop) } }
    }

    /// With which the proxy serves its clients.
    func proxyIdentity(on loop: any EventLoop) async throws -> TLSServerContext {
        try await leaves.context(for: "localhost", on: loop).get()
    }

    /// A client of the proxy that speaks TLS to it.
    var client: @Sendable (any EventLoop) -> TLSChannelHandler {
        { [trust] _ in
            TLSClientHandler(trust, host: "localhost", port: 1, cache: TLSSessionCache(), handshakeTimeMax: .seconds(60))
        }
    }
}
