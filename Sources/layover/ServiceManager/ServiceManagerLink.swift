import CLinux
import Dispatch
import Foundation
import LayoverCore
import LayoverEngine
import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#endif

/// Tells a service manager (systemd) how the proxy is: ready, its status in words, alive, being reloaded, stopping.
///
/// The sign of life is sent only after the engine has answered, so that a process that hangs is started anew.
struct ServiceManagerLink: Service {
    /// Shortest time between two looks at the status. Default: 1 second.
    private static let interval: Duration = .seconds(1)

    private let socket: NotifySocket
    private let engine: Engine
    /// How often a sign of life is due; nil: the manager waits for no signs.
    private let watchdog: Duration?

    /// - Returns: Nil where no service manager listens.
    init?(engine: Engine, environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let socket = environment.nonempty("NOTIFY_SOCKET").flatMap(NotifySocket.init) else { return nil }
        self.socket = socket
        self.engine = engine
        watchdog = Self.watchdog(environment)
    }

    var description: String { "ServiceManagerLink" }

    /// Half of the time after which the manager takes the process for dead (sd_watchdog_enabled(3)).
    static func watchdog(_ environment: [String: String], process: Int32 = getpid()) -> Duration? {
        guard let text = environment.nonempty("WATCHDOG_USEC"), let microseconds = Int64(text), microseconds > 0 else { return nil }
        if let pid = environment.nonempty("WATCHDOG_PID"), Int32(pid) != process { return nil }
        return .microseconds(microseconds / 2)
    }

    /// Both ports listen.
    func isReady() { socket.send(["READY=1"]) }

    /// Runs a reload, which the manager waits for (`Type=notify-reload`).
    func reloading(_ work: () async -> Void) async {
        let microseconds = DispatchTime.now().uptimeNanoseconds / 1000
        socket.send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
        await work()
        socket.send(["READY=1"])
    }

    func run() async throws {
        let pause = min(Self.interval, watchdog ?? Self.interval)
        try? await cancelWhenGracefulShutdown {
            var shown = ""
            while true {
                let text = ServiceStatusText(await engine.status(), clock: engine.clock).text
                var lines = watchdog == nil ? [] : ["WATCHDOG=1"]
                if text != shown { lines.append("STATUS=\(text)") }
                shown = text
                if !lines.isEmpty { socket.send(lines) }
                try await Task.sleep(for: pause)
            }
        }
        socket.send(["STOPPING=1", "STATUS=draining"])
    }
}

/// The socket of a service manager that takes news of this process (sd_notify(3)): one datagram for each.
struct NotifySocket: Sendable {
    private let address: [UInt8]

    /// - Parameter path: The value of `NOTIFY_SOCKET`: a path, or a name in the abstract namespace behind `@` (unix(7)).
    /// - Returns: Nil: the path is neither, or too long for a socket's address.
    init?(_ path: String) {
        guard path.hasPrefix("/") || path.hasPrefix("@"), path.utf8.count > 1 else { return nil }
        var bytes = Array(path.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        guard bytes.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        address = bytes
    }

    /// Longest wait for room in the queue of a service manager that is busy. Default: 1 s.
    private static let sendMax = timeval(tv_sec: 1, tv_usec: 0)

    /// Sends lines of `NAME=value`. A service manager that is gone is no trouble of the proxy.
    func send(_ lines: [String]) {
        let socket = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        var sendMax = Self.sendMax
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &sendMax, socklen_t(MemoryLayout<timeval>.size))
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: address) }
        let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + address.count } ?? 0
        let text = Array(lines.joined(separator: "\n").utf8)
        withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(socket, text, text.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
    }
}

/// The state of the proxy in a few words, as `systemctl status` shows it: "3 waiting, offline since 10:02".
struct ServiceStatusText {
    let text: String

    init(_ status: EngineStatus, clock: any EngineClock) {
        let waiting = (status.counts[.waiting] ?? 0) + (status.counts[.attempting] ?? 0)
        let (held, undecided) = (status.counts[.held] ?? 0, status.counts[.undecided] ?? 0)
        var parts = [waiting == 0 ? "nothing waits" : "\(waiting) waiting"]
        if undecided > 0 { parts.append("\(undecided) to be decided") }
        if held > 0 { parts.append("\(held) held") }
        let view = status.reachability
        parts.append(view.state == .online ? "online" : "\(view.state.rawValue) since \(Self.time(clock.wallNanoseconds(of: view.since)))")
        text = parts.joined(separator: ", ")
    }

    /// Hours and minutes in the zone of this machine.
    private static func time(_ nanoseconds: Int64) -> String {
        var seconds = time_t(nanoseconds / 1_000_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "?" }
        let two = { (value: Int32) in value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(parts.tm_hour)):\(two(parts.tm_min))"
    }
}
