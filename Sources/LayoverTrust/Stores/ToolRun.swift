import Foundation
import Synchronization

/// Runs a program of the system to its end: certutil, keytool, update-ca-certificates.
enum ToolRun {
    struct Result: Sendable {
        var status: Int32
        var output: String
        var errors: String

        /// The last line that tells what went wrong.
        var complaint: String {
            let lines = (errors + "\n" + output).split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            return lines.last { !$0.isEmpty } ?? "exit code \(status)"
        }
    }

    /// The program is ended after this time. Default: 60 s; update-ca-certificates takes several on a slow machine.
    private static let timeMax: TimeInterval = 60

    /// The path of a program. What the administrator runs is not on every user's PATH.
    static func find(_ name: String, environment: [String: String]) -> String? {
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init) + ["/usr/bin", "/usr/sbin", "/sbin"]
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// - Parameters:
    ///   - environment: Where its PATH and HOME are from. JAVA_TOOL_OPTIONS and the like would change what tools say.
    ///   - more: Variables that it gets besides.
    static func run(_ path: String, _ arguments: [String], environment: [String: String] = [:], more: [String: String] = [:]) -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let own = ["PATH", "HOME"].compactMap { name in environment[name].map { (name, $0) } }
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"].merging(own) { $1 }.merging(more) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        do { try process.run() } catch { return Result(status: 127, output: "", errors: "\(path) cannot be started") }
        let identifier = process.processIdentifier
        let end = DispatchWorkItem { kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + timeMax, execute: end)
        // Both at once: a tool whose pipe is full waits for its reader.
        let complaints = Mutex("")
        let reading = DispatchGroup()
        DispatchQueue.global().async(group: reading) {
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            complaints.withLock { $0 = text }
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        reading.wait()
        process.waitUntilExit()
        end.cancel()
        return Result(status: process.terminationStatus, output: text, errors: complaints.withLock { $0 })
    }
}
