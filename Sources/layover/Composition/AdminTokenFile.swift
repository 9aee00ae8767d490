import Foundation
import LayoverCore
import LayoverText

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
        return write(Array("\(token)\n".utf8), to: path(in: folder)) ? Secret(token) : nil
    }

    /// Removes the file of an earlier run.
    static func remove(from folder: String) { unlink(path(in: folder)) }

    private static func path(in folder: String) -> String { (folder.isEmpty ? "." : folder) + "/" + name }

    /// In one piece, and never readable by others.
    private static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let draft = path + ".new"
        unlink(draft)
        let file = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        let count = bytes.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
        close(file)
        guard count == bytes.count, rename(draft, path) == 0 else {
            unlink(draft)
            return false
        }
        return true
    }
}
