import Dispatch
import Foundation
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
