/// Times as text: `2026-11-21T03:52:00.123Z`.
package enum RFC3339 {
    /// UTC with milliseconds, cut off below (RFC 3339 section 5.6).
    ///
    /// - Parameter nanoseconds: Since 1970 UTC.
    package static func text(nanoseconds: Int64) -> String {
        let milliseconds = GregorianCalendar.floor(Int(nanoseconds), 1_000_000)
        let seconds = GregorianCalendar.floor(milliseconds, 1000)
        let days = GregorianCalendar.floor(seconds, GregorianCalendar.secondsPerDay)
        let (year, month, day) = GregorianCalendar.date(days: days)
        let second = seconds - days * GregorianCalendar.secondsPerDay
        let time = [second / 3600, second / 60 % 60, second % 60].map { digits($0, 2) }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"
            + time.joined(separator: ":") + ".\(digits(milliseconds - seconds * 1000, 3))Z"
    }

    /// The text of a time in seconds. A time that nanoseconds in 64 bits cannot count is shown as the first or last that they can,
    /// in the year 1677 or 2262.
    ///
    /// - Parameter seconds: Since 1970 UTC.
    package static func text(seconds: Int) -> String {
        let (nanoseconds, isTooFar) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return text(nanoseconds: isTooFar ? (seconds < 0 ? .min : .max) : nanoseconds)
    }

    private static func digits(_ value: Int, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
