/// Durations as people write them in the configuration, the admin API and the command line: `250ms 10s 5m 24h 7d`.
package enum DurationText {
    package static let nanoseconds: [String: Int] = [
        "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
        "d": 86_400_000_000_000,
    ]

    /// The duration in the largest unit that divides it. Days and minutes are used only from two on, because people write
    /// `24h` and `60s`.
    package static func text(nanoseconds total: Int) -> String {
        for (unit, least) in [("d", 2), ("h", 1), ("m", 2), ("s", 1), ("ms", 1)] {
            guard let size = nanoseconds[unit], total.isMultiple(of: size), total / size >= least else {
                continue
            }
            return "\(total / size)\(unit)"
        }
        return total == 0 ? "0s" : "\(Double(total) / 1_000_000)ms"
    }

    /// Nil for what is no duration, or too long to be one.
    package static func duration(_ text: String) -> Duration? {
        guard let quantity = Quantity(text), let unit = nanoseconds[quantity.unit] else { return nil }
        return quantity.scaled(by: unit).map { .nanoseconds($0) }
    }
}
