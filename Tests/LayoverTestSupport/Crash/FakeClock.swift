import Foundation

/// A wall clock of a process's own, which a test sets: libfaketime, loaded before the C library. The clocks that
/// count from boot go on as they are.
package struct FakeClock: Sendable {
    private let library: String
    private let file: URL

    /// Returns nil if the machine has no libfaketime.
    package init?(in folder: TemporaryFolder) throws {
        let roots = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        let paths = roots.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
        guard let library = paths.first(where: FileManager.default.fileExists) else { return nil }
        self.library = library
        file = folder.file("wall-clock")
        try set("+0")
    }

    /// - Parameter offset: In the words of faketime(1): `-1h`, `+30h`.
    package func set(_ offset: String) throws {
        try Data("\(offset)\n".utf8).write(to: file)
    }

    package var environment: [String: String] {
        [
            "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file.path, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }
}
