import CLinux
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
        let descriptor = try folder.boundSocket()
        do {
            if let mode, chmod(folder.socketPath, mode_t(mode)) != 0 { throw failure("chmod of proxy.listen") }
            // Before it is renamed, so that nobody meets a socket that does not listen yet.
            if listen(descriptor, SOMAXCONN) != 0 { throw failure("listen on proxy.listen") }
            if rename(folder.socketPath, path) != 0 { throw failure("rename to proxy.listen") }
        } catch {
            close(descriptor)
            throw error
        }
        return try await bootstrap.withBoundSocket(descriptor).get()
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
    private var bindPath: String { "/proc/self/fd/\(descriptor)/socket" }

    /// NIO would remove the file of a socket that it has bound when it closes it, by an address that names something else by then.
    func boundSocket() throws -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(bindPath.utf8CString)
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { throw ProxyServer.failure("the path of proxy.listen") }
        withUnsafeMutableBytes(of: &address.sun_path) { room in bytes.withUnsafeBytes { room.copyMemory(from: $0) } }
        let socket = Self.makeSocket()
        guard socket >= 0 else { throw ProxyServer.failure("socket for proxy.listen") }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        guard result == 0 else {
            let failure = ProxyServer.failure("bind of proxy.listen")
            close(socket)
            throw failure
        }
        return socket
    }

    private static func makeSocket() -> CInt {
        socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    }

    func remove() {
        unlink(socketPath)
        rmdir(path)
        close(descriptor)
    }
}
