import Foundation
import LayoverCrypto
import LayoverText

/// Eight hexadecimal digits made once per installation: they distinguish this proxy's `Via` from that of any
/// other one of the same name, so that only a true loop is refused.
enum InstallationIdentity {
    /// Reads it from the folder of the store, or makes it. Where nothing can be written it lasts as long
    /// as the process.
    static func load(folder: String) -> String {
        let folder = folder.isEmpty ? "." : folder
        let path = folder + "/installation-id"
        if let content = try? PrivateFile.read(path) {
            let known = String(decoding: content.bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if known.utf8.count == 8, known.allSatisfy(\.isHexDigit) { return known.lowercased() }
        }
        let made = Hexadecimal.text(UInt32.random(in: .min ... .max))
        try? PrivateFolder.make(folder)
        try? PrivateFile.write(Array((made + "\n").utf8), to: path)
        return made
    }
}
