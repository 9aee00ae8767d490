import CLinux
import Glibc

/// Notices when the content of resolv.conf(5) changes: written in place, replaced, or behind a link.
struct ResolverFileWatch {
    private let path: String
    let descriptor: CInt
    private var content: [UInt8]?

    /// - Parameter path: Default: `/etc/resolv.conf`.
    init(path: String = "/etc/resolv.conf") throws(MonitorError) {
        self.path = path
        descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard descriptor >= 0 else { throw MonitorError(context: "Cannot create an inotify descriptor.") }
        content = Self.read(path)
        watchPlaces()
    }

    /// Watches the folder of the file and, where the file is a link, the folder that it leads to: a
    /// watch on the file alone would end with the file. The file too: where it is mounted into a
    /// container, what is written to it from outside shows on the file only.
    private func watchPlaces() {
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE)
        for place in Set([Self.folder(of: path), Self.folder(of: Self.resolved(path)), path]) {
            inotify_add_watch(descriptor, place, events)
        }
    }

    /// Reads what inotify says; true when the content is another.
    mutating func hasChanged() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while Glibc.read(descriptor, &buffer, buffer.count) > 0 {}
        watchPlaces()
        let now = Self.read(path)
        defer { content = now }
        return now != content
    }

    func close() { _ = Glibc.close(descriptor) }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// The first 64 KiB of the file; nil if it cannot be read.
    private static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { _ = Glibc.close(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(file, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes[..<count])
    }
}
