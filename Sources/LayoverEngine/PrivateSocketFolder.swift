import Glibc
package import NIOCore

/// Where a Unix socket is made before it is moved to its place, so that it has the wanted permissions from the first moment that it
/// can be reached.
///
/// bind(2) makes the file with what the umask leaves, and between it and a chmod others could connect. So the file is
/// made in a folder that only its owner can enter, gets its permissions there, and is then moved to its place
/// (rename(2)). A socket that an earlier run left there is replaced; any other file is not.
package struct PrivateSocketFolder: Sendable {
    private let place: String
    private let path: String
    private let descriptor: CInt
    /// The key of the configuration, for errors.
    private let key: String

    /// Makes the folder beside the place, in the same file system.
    package init(for place: String, of key: String) throws {
        try Self.check(place, key)
        self.place = place
        self.key = key
        let parent = place.lastIndex(of: "/").map { String(place[...$0]) } ?? ""
        var template = Array("\(parent).layover-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Self.failure("mkdtemp beside \(key)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let failure = Self.failure("open of the folder for \(key)")
            rmdir(path)
            throw failure
        }
    }

    /// Only a socket may be replaced.
    private static func check(_ place: String, _ key: String) throws {
        var facts = stat()
        guard lstat(place, &facts) == 0 else { return }
        guard facts.st_mode & S_IFMT == S_IFSOCK else {
            throw IOError(errnoCode: EEXIST, reason: "the file of \(key) exists and is not a socket")
        }
    }

    /// Where the socket is bound. Short, whatever the place is: a socket's address has room for 107 bytes (unix(7)).
    package var bindPath: String { "/proc/self/fd/\(descriptor)/socket" }

    /// Gives the socket its permissions, and then its place.
    ///
    /// - Parameter mode: Nil leaves the umask's.
    package func publish(mode: UInt16?) throws {
        if let mode, chmod(socketPath, mode_t(mode)) != 0 { throw failure("chmod of") }
        if rename(socketPath, place) != 0 { throw failure("rename to") }
    }

    /// An error of the last system call.
    package func failure(_ call: String) -> IOError { Self.failure("\(call) \(key)") }

    private static func failure(_ reason: String) -> IOError { IOError(errnoCode: errno, reason: reason) }

    private var socketPath: String { path + "/socket" }

    package func remove() {
        unlink(socketPath)
        rmdir(path)
        close(descriptor)
    }
}
