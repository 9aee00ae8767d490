import Foundation

extension RunningProcess {
    /// Sets how many descriptors it may have from now on, by prlimit(1). Those that it has stay. Blocks.
    ///
    /// - Returns: The former limit.
    @discardableResult
    package func setDescriptorLimit(_ count: Int) throws -> Int {
        let before = try descriptorLimit()
        let tool = Process()
        tool.executableURL = URL(fileURLWithPath: "/usr/bin/prlimit")
        // Behind the colon stands the hard limit, which stays.
        tool.arguments = ["--pid", String(pid), "--nofile=\(count):"]
        try tool.run()
        tool.waitUntilExit()
        guard tool.terminationStatus == 0, try descriptorLimit() == count else {
            throw ProcessError("prlimit(1) ended with \(tool.terminationStatus).")
        }
        return before
    }

    /// From `/proc/PID/limits` (proc(5)): name, soft limit, hard limit, unit.
    private func descriptorLimit() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
        let name = "Max open files"
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let soft = line.dropFirst(name.count).split(separator: " ").first.flatMap({ Int($0) })
        else { throw ProcessError("No limit of descriptors in /proc/\(pid)/limits.") }
        return soft
    }
}
