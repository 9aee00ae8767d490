import LayoverCrypto

/// The only place that reads files.
enum ConfigurationFile {
    /// More is no configuration. 16 MiB.
    static let byteCountMax = 16 << 20

    static func read(_ path: String) throws(ConfigurationError) -> [UInt8] {
        do throws(PrivateFileError) {
            // A shell gives a pipe for `--config <(command)`.
            return try PrivateFile.read(path, byteCountMax: byteCountMax, acceptsPipes: true).bytes
        } catch {
            let reason = error.step == .size ? "the file exceeds 16 MiB" : error.reason
            throw ConfigurationError(source: path, path: "", message: "cannot be read: \(reason)")
        }
    }
}
