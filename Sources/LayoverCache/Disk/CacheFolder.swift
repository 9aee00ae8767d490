import Glibc
import LayoverSystem
import LayoverText

/// The folder of the bodies. One process has it at a time.
final class CacheFolder: Sendable {
    let path: String
    private let descriptor: CInt

    init(path: String) throws(CacheError) {
        self.path = path
        do throws(PrivateFileError) { try PrivateFolder.make(path) } catch { throw CacheError(.io, error.description) }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard folder >= 0 else { throw Self.failure("open the folder", path) }
        guard FileLock.take(folder, waits: false) else {
            close(folder)
            throw CacheError(.locked, "The cache in \(path) is in use by another process.")
        }
        _ = fchmod(folder, 0o700)
        descriptor = folder
    }

    deinit { FileLock.close(descriptor) }

    /// Another process may have the folder from now on.
    func release() { flock(descriptor, LOCK_UN) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func remove(_ names: some Sequence<String?>) {
        for name in names {
            if let name, Self.isOurs(name) { unlink(file(name)) }
        }
    }

    /// The files with names like ours: the folder may be the user's, so the others are left alone.
    func names() -> [String] { (PrivateFolder.names(in: path) ?? []).filter(Self.isOurs) }

    /// 32 hexadecimal digits, never used before.
    static func newName() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in Hexadecimal.text(generator.next() as UInt64) }.joined()
    }

    /// A body that is not complete yet.
    static func partName(_ name: String) -> String { name + ".part" }

    private static func isOurs(_ name: String) -> Bool {
        let stem = name.hasSuffix(".part") ? String(name.dropLast(5)) : name
        return stem.utf8.count == 32 && stem.utf8.allSatisfy(Hexadecimal.isLowercaseDigit)
    }

    /// The error of the last system call.
    static func failure(_ action: String, _ path: String) -> CacheError {
        CacheError(.io, "Cannot \(action) \(path): \(String(cString: strerror(errno))).")
    }
}

/// Where the cache lies, and its limits. What does not fit is forgotten, least recently used first.
package struct CacheOptions: Sendable {
    /// The index, an SQLite database. The log files of SQLite appear beside it.
    package var path: String
    /// The folder of the bodies, one file each. Made if it is missing; 0700.
    package var folder: String
    /// Most bytes of all responses together, bodies and heads. Default: 1 GiB.
    package var byteCountMax = 1 << 30
    /// Most bytes of one body. A longer one is not kept. Default: 64 MiB.
    package var responseByteCountMax = 64 << 20
    /// How long a response is kept after it came or was confirmed, in seconds. Default: 30 days.
    package var ageMax = 30 * 24 * 3600
    /// Most responses. Default: 100 000.
    package var entryCountMax = 100_000
    /// Most responses for one URL, which differ in credentials or in what `Vary` names. Default: 32.
    package var variantCountMax = 32
    /// Most bytes of one body that wait for the disk. When it is slower than the origin, the cache gives up, because
    /// no client may wait for it. Default: 4 MiB.
    package var unwrittenByteCountMax = 4 << 20
    /// Most bytes of bodies that are not complete yet, all together. Default: 256 MiB.
    package var arrivingByteCountMax = 256 << 20
    /// Most responses that one step of eviction or of a purge removes, so that nothing waits long for it. Default: 64.
    package var stepCount = 64
    /// Most refreshes that are claimed at the same time (`limits.cacheRefreshes`). Default: 64.
    package var refreshCountMax = 64

    package init(path: String, folder: String) {
        self.path = path
        self.folder = folder
    }
}

/// Why the cache cannot work.
package struct CacheError: Error, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// Another process has the folder.
        case locked
        case io
        case closed
    }

    package var code: Code
    package var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
