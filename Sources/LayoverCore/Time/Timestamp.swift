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

/// How times on disk relate to the clock since boot.
package struct TicketClock: Sendable, Hashable {
    /// Nanoseconds that times on disk (since 1970) have and times since boot have not.
    package var offset: Int64
    /// Nanoseconds by which the date went on, or back, while no process measured it: between the last sign of one
    /// boot of the machine and the first of the next. Only the date says that they passed, so they end no ticket.
    package var unmeasured: Int64

    package init(offset: Int64 = 0, unmeasured: Int64 = 0) {
        self.offset = offset
        self.unmeasured = unmeasured
    }

    /// What has to be added to a time since boot so that only measured time counts in it.
    package var measuredOffset: Int64 { offset &- unmeasured }

    /// The way back.
    package static prefix func - (clock: TicketClock) -> TicketClock {
        TicketClock(offset: 0 &- clock.offset, unmeasured: 0 &- clock.unmeasured)
    }

    /// The clock of another boot of the machine.
    ///
    /// - Parameters:
    ///   - offset: What relates its times to the date.
    ///   - now: The date as it says.
    ///   - seen: The last date that the boot before is known to have come to; nil where it is unknown.
    package func next(offset: Int64, now: Timestamp, seen: Timestamp?) -> TicketClock {
        let jump = seen.map { now.nanoseconds &- $0.nanoseconds } ?? 0
        return TicketClock(offset: offset, unmeasured: unmeasured &+ jump)
    }
}
