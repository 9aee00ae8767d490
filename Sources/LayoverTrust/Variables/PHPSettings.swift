import Foundation
import LayoverSystem
import LayoverText

/// PHP reads no variable for its authorities, but one for folders with settings: `PHP_INI_SCAN_DIR`. Its parts are separated by colons, and
/// an empty one is the folder that PHP was built with (PHP manual, "The configuration file").
struct PHPSettings {
    static let name = "PHP_INI_SCAN_DIR"
    private static let mark = "; Made by layover and made anew at need: changes are lost."
    private static let fileName = "layover.ini"

    let files: GeneratedFiles

    /// Writes the settings, and gives the value of the variable.
    ///
    /// - Parameter before: What it named.
    func write(bundle: String, before: String?) throws(TrustError) -> String {
        // One folder for each bundle, so that programs that are running go on to find theirs.
        let digest =
            (try? SHA256.digest(of: Array(bundle.utf8))).map { Hexadecimal.text(of: $0.prefix(4)) } ?? "0"
        let folder = "\(files.folder)/php-\(digest)"
        let quoted = bundle.replacing("\"", with: "\\\"")
        let text = "\(Self.mark)\ncurl.cainfo = \"\(quoted)\"\nopenssl.cafile = \"\(quoted)\"\n"
        try BoundedFile.makeFolder(folder, mode: 0o755)
        try BoundedFile.write(Array(text.utf8), to: "\(folder)/\(Self.fileName)")
        return (before ?? "") + ":" + folder
    }

    /// The value that the variable had before.
    ///
    /// - Returns: `notOurs` if Layover did not make its present value.
    static func former(of value: String) -> GeneratedFiles.Former {
        guard let colon = value.lastIndex(of: ":"),
            BoundedFile.text("\(value[value.index(after: colon)...])/\(fileName)")?.hasPrefix(mark) == true
        else { return .notOurs }
        let before = String(value[..<colon])
        return .was(before.isEmpty ? nil : before)
    }
}
