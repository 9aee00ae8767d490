#if canImport(Glibc)
import Glibc
#endif
import NIOCore
import NIOPosix

extension ProxyServer {
    /// Binds a Unix socket that has the wanted permissions from the first moment that it can be reached.
    ///
    /// bind(2) makes the file with what the umask leaves, and between it and a chmod others could connect. So the file is
    /// made in a folder that only its owner can enter, gets its permissions there, and is then moved to its place
    /// (rename(2)). A socket that an earlier run left there is replaced; any other file is not.
    ///
    /// - Parameter mode: Nil leaves the umask's.
    static func bindUnix(
        _ bootstrap: ServerBootstrap, path: String, mode: UInt16?
    ) async throws -> any Channel {
        try checkPlace(path)
        let folder = try PrivateSocketFolder(beside: path)
        defer { folder.remove() }
        let channel = try await bootstrap.bind(unixDomainSocketPath: folder.bindPath).get()
        do {
            if let mode, chmod(folder.socketPath, mode_t(mode)) != 0 { throw failure("chmod of proxy.listen") }
            if rename(folder.socketPath, path) != 0 { throw failure("rename to proxy.listen") }
        } catch {
            try await channel.close()
            throw error
        }
        return channel
    }

    /// Only a socket may be replaced.
    private static func checkPlace(_ path: String) throws {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return }
        guard facts.st_mode & S_IFMT == S_IFSOCK else {
            throw IOError(errnoCode: EEXIST, reason: "the file of proxy.listen exists and is not a socket")
        }
    }

    fileprivate static func failure(_ reason: String) -> IOError { IOError(errnoCode: errno, reason: reason) }
}

/// A folder beside a socket-to-be, for its owner only, and in the same file system.
private struct PrivateSocketFolder {
    private let path: String
    private let descriptor: CInt

    init(beside place: String) throws {
        let parent = place.lastIndex(of: "/").map { String(place[...$0]) } ?? ""
        var template = Array("\(parent).layover-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ProxyServer.failure("mkdtemp beside proxy.listen") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let failure = ProxyServer.failure("open of the folder for proxy.listen")
            rmdir(path)
            throw failure
        }
    }

    var socketPath: String { path + "/socket" }

    /// Short, whatever the path is: a socket's address has room for 107 bytes (unix(7)).
    var bindPath: String { "/proc/self/fd/\(descriptor)/socket" }

    func remove() {
        unlink(socketPath)
        rmdir(path)
        close(descriptor)
    }
}
