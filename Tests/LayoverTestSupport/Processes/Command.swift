package import Foundation

/// A program a test runs: what, with which words, where.
package struct Command: Sendable {
    package var executable: String
    package var arguments: [String]
    /// Set on top of the test's own environment, from which everything about proxies was removed.
    package var environment: [String: String] = [:]
    package var folder: URL?
    /// The network namespace it runs in; nil = the machine's own.
    package var namespace: String?

    package init(_ executable: String, _ arguments: [String] = []) {
        self.executable = executable
        self.arguments = arguments
    }

    package func with(_ environment: [String: String]) -> Command {
        var copy = self
        copy.environment.merge(environment) { _, new in new }
        return copy
    }

    package func within(_ namespace: String?) -> Command {
        var copy = self
        copy.namespace = namespace
        return copy
    }

    /// Runs it to its end; at the deadline it is killed and the result says so.
    package func run(within limit: Duration = .seconds(60)) async throws -> CommandResult {
        try await start().result(within: limit)
    }

    /// Runs it and throws, with what it printed, unless it ended with 0.
    @discardableResult
    package func succeed(within limit: Duration = .seconds(60)) async throws -> CommandResult {
        let result = try await run(within: limit)
        guard result.status == 0 else { throw ProcessError("\(executable) \(arguments): \(result)") }
        return result
    }

    /// - Parameter folder: Where its output goes; nil = a new one.
    package func start(in folder: TemporaryFolder? = nil) throws -> RunningProcess {
        try RunningProcess(self, in: folder)
    }

    /// The command line for the kernel, with `ip netns exec` in front if it runs in a namespace.
    var words: [String] {
        let own = [executable] + arguments
        guard let namespace else { return own }
        return ["ip", "netns", "exec", namespace] + own
    }

    /// - Parameter folder: Where programs keep their state and look for their configuration, so that no test reads or writes
    ///   a home folder.
    func wholeEnvironment(stateIn folder: String) -> [String: String] {
        var result = ProcessInfo.processInfo.environment.filter { name, _ in
            !name.lowercased().hasSuffix("_proxy") && !name.hasPrefix("LAYOVER_")
                && !["STATE_DIRECTORY", "RUNTIME_DIRECTORY"].contains(name)
        }
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] { result[name] = "\(folder)/\(name)" }
        result["LC_ALL"] = "C.UTF-8"
        result[TestGuardian.mark.name] = TestGuardian.mark.value
        result.merge(environment) { _, new in new }
        return result
    }
}
