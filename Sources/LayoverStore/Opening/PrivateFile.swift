import Glibc
import LayoverEngine

/// Files and folders that only the user who runs the proxy may read.
enum PrivateFile {
    /// Makes a folder, and those above it, if they are missing; 0700. One that is there stays as it is.
    static func makeFolder(_ path: String) throws(StoreFailure) {
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST: return
        case ENOENT:
            let parent = folder(of: path)
            guard parent != path else { throw failure("make the folder", path) }
            try makeFolder(parent)
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("make the folder", path) }
        default: throw failure("make the folder", path)
        }
    }

    /// Makes an empty file if it is missing; 0600, also where it was there and others might read it.
    static func make(_ path: String) throws(StoreFailure) {
        let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("open", path) }
        defer { Glibc.close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw failure("open", path) }
        if facts.st_mode & 0o077 != 0, fchmod(file, 0o600) != 0 { throw failure("restrict", path) }
        try sync(folder: folder(of: path))
    }

    /// The content of a small file; nil if there is none. Does not change the file: it may belong to another program.
    static func read(_ path: String, byteCountMax: Int = 1 << 20) throws(StoreFailure) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", path)
        }
        defer { Glibc.close(file) }
        var bytes = [UInt8](repeating: 0, count: byteCountMax)
        var count = 0
        while count < byteCountMax {
            let got = bytes.withUnsafeMutableBytes { target in
                Glibc.read(file, target.baseAddress?.advanced(by: count), byteCountMax - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure("read", path) }
            if got == 0 { break }
            count += got
        }
        return Array(bytes[..<count])
    }

    /// Sets the mode 0600 of a file, if this user owns it.
    static func restrict(_ path: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        var facts = stat()
        if fstat(file, &facts) == 0, facts.st_mode & 0o077 != 0 { fchmod(file, 0o600) }
    }

    /// Puts a new file in the place of an old one, or leaves the old one: never anything in between, also not after
    /// a power cut.
    static func replace(_ path: String, with bytes: [UInt8]) throws(StoreFailure) {
        let draft = path + ".new"
        unlink(draft)
        let file = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("write", path) }
        let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        let isSynced = written == bytes.count && fsync(file) == 0
        Glibc.close(file)
        guard isSynced, rename(draft, path) == 0 else {
            let failure = failure("write", path)
            unlink(draft)
            throw failure
        }
        try sync(folder: folder(of: path))
    }

    /// Makes the names in a folder last (fsync(2)).
    static func sync(folder: String) throws(StoreFailure) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the folder", folder) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync the folder", folder) }
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Of the last system call.
    static func failure(_ action: String, _ path: String) -> StoreFailure {
        let code = errno
        let kind: StoreFailure.Kind =
            switch code {
            case ENOSPC, EDQUOT: .full
            case EROFS, EACCES, EPERM: .readOnly
            case EIO: .io
            default: .other
            }
        return StoreFailure(kind, "Cannot \(action) \(path): \(String(cString: strerror(code))).")
    }
}
