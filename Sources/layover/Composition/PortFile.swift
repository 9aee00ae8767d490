import Foundation
import LayoverCrypto
import Synchronization

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
        try PrivateFile.write(Array(text(proxy: proxy, admin: admin).utf8), to: path, mode: mode)
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
