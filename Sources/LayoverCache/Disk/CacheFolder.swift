import Glibc
import LayoverCrypto
import LayoverText

/// The folder of the bodies. One process has it at a time.
final class CacheFolder: Sendable {
    let path: String
    private let descriptor: CInt

    init(path: String) throws(CacheError) {
        self.path = path
        do throws(PrivateFileError) { try PrivateFolder.make(path) } catch { throw CacheError(.io, error.description) }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Self.failure("open the folder", path) }
        // flock(2): gone with the process, however it ends.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CacheError(.locked, "The cache in \(path) is in use by another process.")
        }
        _ = fchmod(descriptor, 0o700)
    }

    deinit { close(descriptor) }

    /// Lets another one have it.
    func release() { flock(descriptor, LOCK_UN) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func remove(_ names: some Sequence<String?>) {
        for name in names {
            if let name, Self.isOurs(name) { unlink(file(name)) }
        }
    }

    /// The files with names like ours: the folder may be the user's, so the others are left alone.
    func names() -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if Self.isOurs(name) { names.append(name) }
        }
        return names
    }

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

    /// Of the last system call.
    static func failure(_ action: String, _ path: String) -> CacheError {
        CacheError(.io, "Cannot \(action) \(path): \(String(cString: strerror(errno))).")
    }
}
