/// A point on the clock that due times are measured on: nanoseconds since the machine booted.
///
/// The clock goes on while the machine sleeps and never jumps when the date is set
/// (`CLOCK_BOOTTIME`, clock_gettime(2)). The core never reads it; every fact brings its time along.
package struct Timestamp: Sendable, Hashable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Far enough ahead never to come.
    package static let distantFuture = Timestamp(nanoseconds: .max)

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

    /// Saturates at the ends instead of overflowing.
    package static func + (lhs: Self, rhs: Duration) -> Self {
        let (sum, overflow) = lhs.nanoseconds.addingReportingOverflow(rhs.nanosecondsSaturating)
        if overflow { return rhs < .zero ? Timestamp(nanoseconds: .min) : .distantFuture }
        return Timestamp(nanoseconds: sum)
    }

    package static func - (lhs: Self, rhs: Self) -> Duration {
        let (difference, overflow) = lhs.nanoseconds.subtractingReportingOverflow(rhs.nanoseconds)
        return .nanoseconds(overflow ? (lhs > rhs ? .max : .min) : difference)
    }
}

extension Duration {
    /// The duration in nanoseconds, held at the ends of what an `Int64` can say (292 years).
    package var nanosecondsSaturating: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in seconds, for text and for ratios.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
