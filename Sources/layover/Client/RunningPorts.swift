import Foundation
import Glibc
import LayoverCore

/// The ports of an instance that runs on this machine, from the file `ports.json` that it keeps beside its `admin-token`.
struct RunningPorts: Decodable, Equatable {
    static let name = "ports.json"

    /// The port of the proxy. Nil: the proxy listens on a Unix socket.
    var proxy: UInt16?
    /// The scheme of the proxy's URL. Nil: clients speak to the proxy without TLS.
    var proxyScheme: String?
    /// The port of the admin API. Nil: the admin API listens on a Unix socket.
    var admin: UInt16?
    var adminSocket: String?
    /// The token from the file `admin-token` beside this one. Nil: there is no such file, as when `admin.token` is set.
    var token: Secret?

    private enum CodingKeys: CodingKey { case proxy, proxyScheme, admin, adminSocket }

    var adminURL: String { adminSocket.map { "unix:\($0)" } ?? "http://127.0.0.1:\(admin ?? 0)" }
    var proxyURL: String? { proxy.map { "\(proxyScheme ?? "http")://127.0.0.1:\($0)" } }

    /// The ports of the first instance found; nil if no file is there.
    static func found(environment: [String: String], workingFolder: String = ".") -> RunningPorts? {
        // An instance of this user, or of the service that this command belongs to; or one with its store in the current folder.
        for folder in StateFolders(environment: environment).instanceFolders + [workingFolder] {
            if let ports = read(in: folder) { return ports }
        }
        return nil
    }

    /// Those of the instance that keeps its files in this folder.
    static func read(in folder: String) -> RunningPorts? {
        guard let data = ownContents(folder + "/" + name),
            var ports = try? JSONDecoder().decode(RunningPorts.self, from: data), ports.admin ?? 0 > 0 || ports.adminSocket != nil
        else { return nil }
        let token = ownContents(folder + "/" + AdminTokenFile.name).map { String(decoding: $0, as: UTF8.self) }
        ports.token = token.map { Secret($0.trimmingCharacters(in: .newlines)) }
        return ports
    }

    /// Another user's file is not read: the admin token is sent to the port that it names.
    private static func ownContents(_ path: String) -> Data? {
        let facts = try? FileManager.default.attributesOfItem(atPath: path)
        guard let owner = (facts?[.ownerAccountID] as? NSNumber)?.uint32Value, owner == geteuid() || owner == 0 else { return nil }
        return FileManager.default.contents(atPath: path)
    }
}
