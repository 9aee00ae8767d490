import ArgumentParser
import Foundation
import LayoverTrust
import Synchronization

/// A proxy for one command: `layover run` as a child, on free ports, with a temporary folder.
///
/// It ends when the pipe on its standard input ends, and so with this process, however that ends. It leads a session of its own: Ctrl-C is
/// for the command, and the proxy is there until the command has ended.
final class PrivateInstance: Sendable {
    /// How long its start may take. Default: 30 s.
    private static let startMax: Int32 = 30
    /// How long its end may take before it is killed. Default: 3 s.
    private static let endMax: Int32 = 3

    /// Variables of a service manager for its service, which the proxy of a command in that service must not get.
    private static let variablesOfServices = [
        "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID",
    ]

    let ports: RunningPorts
    private let folder: String
    private let child: ChildProcess
    /// The proxy lives as long as this is open.
    private let life: Int32
    /// The standard output of the proxy, which ends with it.
    private let output: Int32
    private let log: LogTail
    private let hasEnded = Mutex(false)

    /// Starts the private proxy and waits until it listens. Blocks.
    ///
    /// - Parameters:
    ///   - options: Further ones of `layover run`.
    ///   - trust: Certificates that the proxy trusts besides its own. Nil: it trusts no others.
    /// - Throws: `CommandFailure` if it cannot be started; `ExitCode` after its own errors.
    static func start(
        _ options: [String], environment: [String: String], trust: ShellTrust? = nil, _ inheritance: Inheritance
    ) throws -> PrivateInstance {
        let folder = try makeFolder(environment)
        do {
            var environment = environment
            if let trust { environment["LAYOVER_TLS_CA_FILE"] = try write(trust, in: folder) }
            return try PrivateInstance(in: folder, options, environment, inheritance)
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            guard let failure = error as? SpawnFailure else { throw error }
            throw CommandFailure(code: .unreachable, message: "cannot start a private proxy: \(failure.message)")
        }
    }

    private init(
        in folder: String, _ options: [String], _ environment: [String: String], _ inheritance: Inheritance
    ) throws {
        let (life, output, errors) = (try OwnPipe(), try OwnPipe(), try OwnPipe())
        var setting = ChildProcess.Setting(defaults: inheritance.defaultSignals)
        setting.standardDescriptors = [life.reading, output.writing, errors.writing]
        setting.leadsSession = true
        setting.program = "/proc/self/exe"
        let child = try inheritance.closingAllOnExec { () throws(SpawnFailure) in
            try ChildProcess(
                ["layover", "run", "--private", folder] + options,
                environment: environment.filter { !Self.variablesOfServices.contains($0.key) }, setting)
        }
        for end in [life.reading, output.writing, errors.writing] { close(end) }
        (self.folder, self.child, self.life, self.output) = (folder, child, life.writing, output.reading)
        log = LogTail(errors.reading)
        guard Self.says(output.reading, within: Self.startMax), let ports = RunningPorts.read(in: folder) else {
            kill(child.pid, SIGKILL)
            throw Self.failure(child.waitForEnd(), log)
        }
        self.ports = ports
    }

    /// - Returns: The path of the file, which does not depend on a current folder.
    private static func write(_ trust: ShellTrust, in folder: String) throws(CommandFailure) -> String {
        let path = URL(fileURLWithPath: folder).appending(path: "trust.pem").path
        do throws(TrustError) {
            try BoundedFile.write(Array(trust.text.utf8), to: path, mode: 0o600)
        } catch {
            throw CommandFailure(code: .unreachable, message: "cannot start a private proxy: \(error.message)")
        }
        return path
    }

    private static func makeFolder(_ environment: [String: String]) throws(CommandFailure) -> String {
        let parent = environment.nonempty("TMPDIR") ?? "/tmp"
        var template = Array("\(parent)/layover-exec-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(
                code: .unreachable,
                message: "cannot start a private proxy: no folder can be made in \(parent): \(reason); set TMPDIR to one that is yours")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether a line comes, before the end of the file and in time.
    private static func says(_ descriptor: Int32, within seconds: Int32) -> Bool {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        return poll(&interest, 1, seconds * 1000) > 0 && read(descriptor, &byte, 1) == 1
    }

    /// Shows what the proxy said, which names what is to be changed.
    private static func failure(_ ending: WaitStatus, _ log: LogTail) -> ExitCode {
        StandardError.error("the private proxy did not start")
        for line in log.lines() { StandardError.write(Terminal.safe(line)) }
        return ExitCode(ending == .exited(1) ? CommandFailure.Code.usage.rawValue : CommandFailure.Code.unreachable.rawValue)
    }

    /// Says so, once, if it has ended although nothing told it to. The command goes on, without a proxy.
    func checkLife() {
        let endsNow = hasEnded.withLock { hasEnded in
            guard !hasEnded, child.status() != nil else { return false }
            hasEnded = true
            return true
        }
        guard endsNow else { return }
        StandardError.error("the private proxy has ended before the command, whose requests now fail")
        for line in log.lines() { StandardError.write(Terminal.safe(line)) }
    }

    /// Ends it, and removes its folder. Blocks.
    func stop() {
        close(life)
        hasEnded.withLock { hasEnded in
            guard !hasEnded else { return }
            hasEnded = true
            // The proxy writes nothing more: the end of its output is its own.
            if Self.outlives(output, seconds: Self.endMax) { kill(child.pid, SIGKILL) }
            _ = child.waitForEnd()
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func outlives(_ descriptor: Int32, seconds: Int32) -> Bool {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var rest = [UInt8](repeating: 0, count: 256)
        while poll(&interest, 1, seconds * 1000) > 0 { if read(descriptor, &rest, rest.count) <= 0 { return false } }
        return true
    }
}

/// The last lines that a process has written to a pipe.
final class LogTail: Sendable {
    /// Most bytes that are kept. Default: 16 KiB.
    private static let byteCountMax = 16 << 10

    private let kept = Mutex<[UInt8]>([])
    private let end = DispatchSemaphore(value: 0)

    /// Reads until no process has the other end any more, and closes it.
    init(_ descriptor: Int32) {
        Thread.detachNewThread { [self] in
            LogSignals.blockAll()
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else {
                    if count < 0, errno == EINTR { continue }
                    break
                }
                kept.withLock { kept in
                    kept += buffer[..<count]
                    kept.removeFirst(max(0, kept.count - Self.byteCountMax))
                }
            }
            close(descriptor)
            end.signal()
        }
    }

    /// The lines, once the other end is closed; a second later at most.
    func lines() -> [String] {
        _ = end.wait(timeout: .now() + 1)
        return kept.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
    }
}
