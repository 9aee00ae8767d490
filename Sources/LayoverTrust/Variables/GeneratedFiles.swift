import Foundation
import LayoverSystem
import LayoverText

/// Files that variables name. They hold certificates, and settings of programs: these are read by those only who may read what was copied.
///
/// A file is named after what it replaces, not after what is in it: it is made anew in its place, and programs that are running
/// go on to find it. Each text begins with a line that says so, and one that names the file that stood in the variable before.
struct GeneratedFiles: Sendable {
    static let mark = "# Made by layover and made anew at need: changes are lost."
    private static let beforeMark = "# Before: "

    /// With so many files in the folder, those that no program was given for a day are removed. Each set of earlier values of the
    /// variables has its own files. Default: 64.
    static let countMax = 64
    /// The age, in seconds, up to which a file counts as in use: a program that was given it may start others that read it. Default: a day.
    static let ageMax = 24 * 60 * 60
    /// Most files in the folder, those in use included. The oldest files are removed. Default: 4 096.
    static let countInUseMax = 4096

    let folder: String

    /// - Parameter folder: The folder of the authority. The files are in `clients` below it if this user may write there. Otherwise,
    ///   and where the folder is closed to programs of root that give up root's rights (apt's methods), the files are in a folder for
    ///   things that can be made again.
    init(authorityFolder folder: String, fingerprint: String, environment: [String: String]) {
        let own = "\(folder.isEmpty ? "." : folder)/clients"
        let isWritable = access(folder.isEmpty ? "." : folder, W_OK) == 0
        if isWritable, geteuid() != 0 || Self.isOpenToAll(folder) {
            self.folder = own
        } else if geteuid() == 0 {
            self.folder = "/var/cache/layover-ca/\(fingerprint.prefix(16))"
        } else {
            let caches = environment.nonempty("XDG_CACHE_HOME") ?? environment.nonempty("HOME").map { "\($0)/.cache" }
            self.folder = caches.map { "\($0)/layover/ca-\(fingerprint.prefix(16))" } ?? own
        }
    }

    init(folder: String) { self.folder = folder }

    private static func isOpenToAll(_ path: String) -> Bool {
        var url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        while true {
            var facts = stat()
            guard stat(url.path, &facts) == 0, facts.st_mode & S_IXOTH != 0 else { return false }
            if url.path == "/" { return true }
            url.deleteLastPathComponent()
        }
    }

    /// Writes a text.
    ///
    /// - Parameters:
    ///   - before: The value that the variable had before. Nil: the variable was unset.
    ///   - inherited: A file that counts although the variable did not name it.
    ///   - source: The file whose text is part of the new file. Nil, or no such file: everybody may read the new file.
    /// - Returns: The path of the new file.
    func write(
        _ text: String, name: String, extension: String, before: String?, inherited: String? = nil, source: String? = nil
    ) throws(TrustError) -> String {
        try prepare()
        let path = path(name: name, extension: `extension`, before: before, inherited: inherited)
        let head = Self.mark + "\n" + (before.map { Self.beforeMark + $0 + "\n" } ?? "")
        try BoundedFile.write(Array((head + text).utf8), to: path, mode: Self.mode(as: source))
        return path
    }

    private static func mode(as source: String?) -> UInt32 {
        var facts = stat()
        guard let source, stat(source, &facts) == 0 else { return 0o644 }
        return 0o600 | facts.st_mode & 0o044
    }

    /// The content of a written file. Nil: the file is not there any more, or it cannot be read.
    func text(name: String, extension: String, before: String?) -> [UInt8]? {
        BoundedFile.contents(path(name: name, extension: `extension`, before: before, inherited: nil))
    }

    private func path(name: String, extension: String, before: String?, inherited: String?) -> String {
        let origin = before.map { "=\($0)" } ?? inherited.map { "<\($0)" }
        return "\(folder)/\(name)\(Self.suffix(origin)).\(`extension`)"
    }

    func write(_ bytes: [UInt8], name: String, extension: String, inherited: String?) throws(TrustError) -> String {
        try prepare()
        let path = "\(folder)/\(name)\(Self.suffix(inherited)).\(`extension`)"
        try BoundedFile.write(bytes, to: path)
        return path
    }

    private func prepare() throws(TrustError) {
        try BoundedFile.makeFolder(folder, mode: 0o755)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard names.count >= Self.countMax else { return }
        let paths = names.map { "\(folder)/\($0)" }
        let times = Dictionary(uniqueKeysWithValues: paths.map { path in
            var facts = stat()
            return (path, stat(path, &facts) == 0 ? facts.st_mtim.tv_sec : 0)
        })
        let oldest = time(nil) - Self.ageMax
        // Even of those in use there is an end: each program that is started anew gets its file again.
        let excess = max(0, names.count - Self.countInUseMax)
        for (place, path) in paths.sorted(by: { times[$0, default: 0] < times[$1, default: 0] }).enumerated()
        where place < excess || times[path, default: 0] < oldest {
            unlink(path)
        }
    }

    private static func suffix(_ origin: String?) -> String {
        guard let origin, let digest = try? SHA256.digest(of: Array(origin.utf8)) else { return "" }
        return "-" + Hexadecimal.text(of: digest.prefix(4))
    }

    /// The value that a variable had before it named one of these files.
    enum Former: Equatable {
        case was(String?)
        /// The file is not one of these.
        case notOurs
    }

    static func former(of path: String) -> Former {
        // Only the beginning is needed, and a variable may name any file of any size.
        guard let file = FileHandle(forReadingAtPath: path) else { return .notOurs }
        defer { try? file.close() }
        var facts = stat()
        guard fstat(file.fileDescriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            let data = try? file.read(upToCount: 8192)
        else { return .notOurs }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.first == mark[...] else { return .notOurs }
        guard lines.count > 1, lines[1].hasPrefix(beforeMark) else { return .was(nil) }
        return .was(String(lines[1].dropFirst(beforeMark.count)))
    }
}

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
