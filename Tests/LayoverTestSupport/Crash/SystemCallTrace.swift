package import Foundation
import Glibc

/// The record of strace(1) for a process and its threads: one call after the other, in the order in which they began.
package struct SystemCallTrace: Sendable {
    /// Each call with what it was given and gave back; the names of files and sockets stand after their numbers.
    package let calls: [String]

    /// The command that a program is run under. The tracer stands aside, so that signals reach the program itself.
    package static func prefix(file: URL, calls: String) -> [String] {
        ["strace", "-D", "-f", "-y", "-s", "120", "-o", file.path, "-e", "trace=\(calls)", "-e", "signal=none"]
    }

    package init(_ file: URL) throws {
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        var unfinished: [Substring: Int] = [:]
        var calls: [String] = []
        for line in lines {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let text = parts[1].drop { $0 == " " }
            if text.hasPrefix("<... "), let index = unfinished.removeValue(forKey: parts[0]) {
                // The end of a call counts at its end, its beginning at its beginning: both stand in the list.
                calls.append("\(calls[index]) ...\(text)")
            } else {
                if text.contains("<unfinished ...>") { unfinished[parts[0]] = calls.count }
                calls.append(String(text))
            }
        }
        self.calls = calls
    }

    /// The first call at or after `start` that names all of `parts`.
    ///
    /// - Parameter isDone: True: the call must have ended without an error by then. False: its beginning counts.
    package func first(after start: Int = 0, isDone: Bool = true, _ parts: String...) -> Int? {
        calls.indices.dropFirst(start).first { index in
            let call = calls[index]
            return parts.allSatisfy(call.contains)
                && (!isDone || !call.contains(" = -1 ") && call.wholeMatch(of: /.*\) += \d+.*/) != nil)
        }
    }

    /// The reason why strace cannot be used on this machine; nil if it can.
    package static func refusal() async -> String? {
        guard let made = try? await Command("strace", ["-o", "/dev/null", "-D", "true"]).run() else {
            return "`strace` cannot be run"
        }
        return made.status == 0 ? nil : "strace: \(made.errors)"
    }
}
