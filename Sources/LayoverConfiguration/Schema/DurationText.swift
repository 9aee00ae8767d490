import LayoverCore

/// Durations as the configuration spells them.
enum DurationText {
    static let nanoseconds: [String: Int] = [
        "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
        "d": 86_400_000_000_000,
    ]

    /// The largest unit that divides it, where days and minutes are only used from two on: people
    /// write `24h` and `60s`.
    static func text(_ duration: Duration) -> String {
        let total = Int(duration.nanosecondsSaturating)
        for (unit, least) in [("d", 2), ("h", 1), ("m", 2), ("s", 1), ("ms", 1)] {
            guard let size = nanoseconds[unit], total.isMultiple(of: size), total / size >= least else {
                continue
            }
            return "\(total / size)\(unit)"
        }
        return total == 0 ? "0s" : "\(duration.inSeconds * 1000)ms"
    }
}

extension Duration {
    /// Civil days of 24 hours.
    static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
