import Foundation
import Glibc
import LayoverCore
import LayoverSystem
import LayoverText
import Synchronization

/// The folder of `admin-token` and `ports.json`, which belongs to one running instance at a time.
///
/// Instances of one user share `$XDG_RUNTIME_DIR/layover`. The first that runs keeps it, so that commands go on to find that one;
/// another one uses the folder of its store.
final class InstanceFolder: Sendable {
    let path: String
    /// Holds the lock as long as it is open. -1: there is none.
    private let descriptor: Int32

    private init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

    /// - Returns: Nil if another running instance has the folder.
    private static func lock(_ path: String) -> InstanceFolder? {
        // The folder itself is locked: a lock file would stay behind.
        let descriptor = open(path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0, !FileLock.take(descriptor, waits: false), errno == EWOULDBLOCK {
            close(descriptor)
            return nil
        }
        // A folder that cannot be opened, or whose file system knows no such locks, is used as it is.
        return InstanceFolder(path, descriptor)
    }

    deinit { if descriptor >= 0 { FileLock.close(descriptor) } }

    /// The first of these folders that no other instance has, or the last one. Files of an earlier run are removed from all that are
    /// free: its token opens nothing any more, and its ports may be those of another program.
    static func claim(_ places: [String]) -> InstanceFolder {
        let free = places.compactMap(lock)
        for folder in free {
            AdminTokenFile.remove(from: folder.path)
            unlink(PortFile.path(in: folder.path))
            PrivateFile.removeDrafts(of: PortFile.path(in: folder.path))
        }
        return free.first ?? InstanceFolder(places.last ?? "", -1)
    }
}

/// The file `admin-token` in the folder of the instance (`InstanceFolder`): it gives access to bodies if there is
/// no `admin.token`.
///
/// Made anew at each start, 0600.
enum AdminTokenFile {
    static let name = "admin-token"

    /// - Returns: The token; nil if it could not be written; then no caller gets bodies.
    static func make(in folder: String) -> Secret? {
        var generator = SystemRandomNumberGenerator()
        let token = (0..<4).map { _ in Hexadecimal.text(generator.next() as UInt64) }.joined()
        do throws(PrivateFileError) {
            try PrivateFile.write(Array("\(token)\n".utf8), to: path(in: folder), isDurable: false)
            return Secret(token)
        } catch {
            return nil
        }
    }

    /// Removes the file of an earlier run.
    static func remove(from folder: String) {
        unlink(path(in: folder))
        PrivateFile.removeDrafts(of: path(in: folder))
    }

    private static func path(in folder: String) -> String { (folder.isEmpty ? "." : folder) + "/" + name }
}

/// Where the admin API listens.
enum AdminPlace {
    case port(Int)
    /// The path of a Unix socket.
    case socket(String)
}

/// Where the proxy listens.
struct ProxyPlace {
    /// The port. Nil: the proxy listens on a Unix socket.
    let port: Int?
    /// The scheme that clients speak to the proxy: `http` or `https`.
    let scheme: String
}

/// Writes the ports in use for other programs: `{"proxy":port,"admin":port}`. Of a Unix socket there is no port, and that of the admin API
/// is `adminSocket`. Where clients speak TLS to the proxy, `proxyScheme` is `https`.
enum PortFile {
    /// Writes the file; a reader sees all of it.
    ///
    /// - Parameter mode: Nil: the umask decides. Default: nil.
    static func write(_ path: String, proxy: ProxyPlace, admin: AdminPlace, mode: UInt32? = nil) throws(PrivateFileError) {
        let bytes = Array(text(proxy: proxy, admin: admin).utf8)
        do throws(PrivateFileError) {
            try PrivateFile.write(bytes, to: path, mode: mode, isDurable: false)
        } catch {
            // Nothing can take the place of a file that is mounted by itself (rename(2), EBUSY). It is written where it is.
            guard error.step == .rename, error.code == EBUSY, let file = FileHandle(forWritingAtPath: path) else { throw error }
            defer { try? file.close() }
            do {
                try file.truncate(atOffset: 0)
                try file.write(contentsOf: bytes)
            } catch _ { throw error }
        }
    }

    /// Why the file could not be written; nil: the file can be written.
    static func failure(toWrite path: String) -> String? {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { return "it is a folder" }
        do throws(PrivateFileError) { try PrivateFile.checkTarget(path) } catch { return error.reason }
        // The file is written beside its place first, so the folder decides.
        let folder = (path as NSString).deletingLastPathComponent
        return access(folder.isEmpty ? "." : folder, W_OK | X_OK) == 0 ? nil : String(cString: strerror(errno))
    }

    fileprivate static func text(proxy: ProxyPlace, admin: AdminPlace) -> String {
        let scheme = proxy.scheme == "http" ? "" : ",\"proxyScheme\":\"\(proxy.scheme)\""
        let proxy = proxy.port.map(String.init) ?? "null"
        switch admin {
        case .port(let port): return "{\"proxy\":\(proxy),\"admin\":\(port)\(scheme)}\n"
        case .socket(let path):
            // A path is a string of JSON once its quotation marks and backslashes are escaped.
            let escaped = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "{\"proxy\":\(proxy),\"admin\":null,\"adminSocket\":\"\(escaped)\"\(scheme)}\n"
        }
    }

    /// The file by which commands find the running proxy: beside the admin token, while the proxy runs.
    static func path(in folder: String) -> String { (folder.isEmpty ? "." : folder) + "/" + RunningPorts.name }
}

/// The port file in the folder of the instance (`InstanceFolder`).
final class InstancePortFile: Sendable {
    let path: String
    private let written = Mutex<String?>(nil)

    init(folder: String) { path = PortFile.path(in: folder) }

    func write(proxy: ProxyPlace, admin: AdminPlace) throws(PrivateFileError) {
        try PortFile.write(path, proxy: proxy, admin: admin, mode: 0o600)
        written.withLock { $0 = PortFile.text(proxy: proxy, admin: admin) }
    }

    /// Removes what this instance has written. The file of an instance that was started later stays.
    func remove() {
        let own = written.withLock { $0 }
        if let own, own == (try? String(contentsOfFile: path, encoding: .utf8)) { unlink(path) }
    }
}
