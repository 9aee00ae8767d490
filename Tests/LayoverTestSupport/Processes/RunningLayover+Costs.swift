import Foundation

/// Resources that the running proxy uses, read from /proc (proc(5)).
extension RunningLayover {
    /// Memory resident now, in bytes.
    package var residentByteCount: Int { statusByteCount("VmRSS:") }

    /// The most memory that was resident since the last `resetPeak`, in bytes.
    package var peakByteCount: Int { statusByteCount("VmHWM:") }

    package func resetPeak() throws {
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(process.pid)/clear_refs"))
    }

    package var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/fd").count) ?? 0
    }

    package var threadCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/task").count) ?? 0
    }

    private func statusByteCount(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) }.map { $0 * 1024 } ?? 0
    }
}
