import LayoverCore
import LayoverEngine

#if canImport(Glibc)
import Glibc
#endif

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
