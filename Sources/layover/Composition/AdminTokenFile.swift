import Foundation
import LayoverCore
import LayoverCrypto
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
        do throws(PrivateFileError) {
            try PrivateFile.write(Array("\(token)\n".utf8), to: path(in: folder))
            return Secret(token)
        } catch {
            return nil
        }
    }

    /// Removes the file of an earlier run.
    static func remove(from folder: String) { unlink(path(in: folder)) }

    private static func path(in folder: String) -> String { (folder.isEmpty ? "." : folder) + "/" + name }
}
