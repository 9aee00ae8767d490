import Foundation

/// The only place that reads files.
enum ConfigurationFile {
    /// More is no configuration. 16 MiB.
    static let byteCountMax = 16 << 20

    static func read(_ path: String) throws(ConfigurationError) -> [UInt8] {
        func failure(_ reason: String) -> ConfigurationError {
            ConfigurationError(source: path, path: "", message: "cannot be read: \(reason)")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Foundation.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(String(cString: strerror(errno))) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= byteCountMax else { throw failure("the file exceeds 16 MiB") }
        }
    }
}
