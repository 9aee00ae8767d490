#if canImport(Glibc)
import Glibc
#endif
import NIOCore
import NIOPosix

extension ProxyServer {
    /// Binds a Unix socket with the wanted permissions from its first moment.
    static func bindUnix(
        _ bootstrap: ServerBootstrap, path: String, mode: UInt16?
    ) async throws -> any Channel {
        let channel = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true)
            .get()
        if let mode, chmod(path, mode_t(mode)) != 0 {
            try await channel.close()
            throw IOError(errnoCode: errno, reason: "chmod of proxy.listen")
        }
        return channel
    }
}
