import Foundation
import Glibc

/// The ports of an instance that runs on this machine, from the file `ports.json` that it keeps beside its `admin-token`.
struct RunningPorts: Decodable, Equatable {
    static let name = "ports.json"

    /// Nil: the proxy listens on a Unix socket.
    var proxy: UInt16?
    var admin: UInt16

    var adminURL: String { "http://127.0.0.1:\(admin)" }
    var proxyURL: String? { proxy.map { "http://127.0.0.1:\($0)" } }

    /// The ports of the first instance found; nil if no file is there.
    static func found(environment: [String: String], workingFolder: String = ".") -> RunningPorts? {
        for folder in folders(environment) + [workingFolder] {
            if let ports = read(folder + "/" + name) { return ports }
        }
        return nil
    }

    /// Where an instance of this user, or of the service that this command belongs to, keeps its state.
    private static func folders(_ environment: [String: String]) -> [String] {
        let runtime = environment.nonempty("XDG_RUNTIME_DIR").map { $0 + "/layover" }
        let home = environment.nonempty("HOME").map { $0 + "/.local/state" }
        let state = (environment.nonempty("XDG_STATE_HOME") ?? home).map { $0 + "/layover" }
        return [environment.nonempty("RUNTIME_DIRECTORY"), runtime, environment.nonempty("STATE_DIRECTORY"), state]
            .compactMap(\.self)
    }

    /// Another user's file is not read: the admin token is sent to the port that it names.
    private static func read(_ path: String) -> RunningPorts? {
        let facts = try? FileManager.default.attributesOfItem(atPath: path)
        guard let owner = (facts?[.ownerAccountID] as? NSNumber)?.uint32Value, owner == geteuid() || owner == 0,
            let data = FileManager.default.contents(atPath: path),
            let ports = try? JSONDecoder().decode(RunningPorts.self, from: data), ports.admin > 0
        else { return nil }
        return ports
    }
}
