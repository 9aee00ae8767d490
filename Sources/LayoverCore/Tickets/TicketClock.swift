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
