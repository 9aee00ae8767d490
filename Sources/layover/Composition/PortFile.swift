import Foundation

/// Tells other programs which ports were taken: `{"proxy":port,"admin":port}`.
enum PortFile {
    /// Writes the file in one piece: whoever sees it sees it whole.
    static func write(_ path: String, proxy: Int?, admin: Int) throws {
        let text = "{\"proxy\":\(proxy.map(String.init) ?? "null"),\"admin\":\(admin)}\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
