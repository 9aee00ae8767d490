import Foundation

/// Writes the ports in use for other programs: `{"proxy":port,"admin":port}`.
enum PortFile {
    /// Writes the file atomically: a reader sees all of it.
    static func write(_ path: String, proxy: Int?, admin: Int) throws {
        let text = "{\"proxy\":\(proxy.map(String.init) ?? "null"),\"admin\":\(admin)}\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// The file by which commands find the running proxy: beside the admin token, while the proxy runs.
    static func path(in folder: String) -> String { (folder.isEmpty ? "." : folder) + "/" + RunningPorts.name }
}
