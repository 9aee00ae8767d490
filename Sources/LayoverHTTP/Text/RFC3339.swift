/// Times as text: `2026-11-21T03:52:00.123Z`.
package enum RFC3339 {
    /// UTC with milliseconds, cut off below (RFC 3339 section 5.6).
    ///
    /// - Parameter nanoseconds: Since 1970 UTC.
    package static func text(nanoseconds: Int64) -> String {
        let milliseconds = floor(nanoseconds, 1_000_000)
        let seconds = floor(milliseconds, 1000)
        let days = floor(seconds, 86_400)
        let (year, month, day) = civil(days: days)
        let second = seconds - days * 86_400
        let time = [second / 3600, second / 60 % 60, second % 60].map { digits($0, 2) }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"
            + time.joined(separator: ":") + ".\(digits(milliseconds - seconds * 1000, 3))Z"
    }

    /// The day of the Gregorian calendar, by eras of 400 years that begin in March, so that the day that
    /// leap years add is the last of its year.
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let sinceEpoch = days + 719_468
        let era = floor(sinceEpoch, 146_097)
        let dayOfEra = sinceEpoch - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * marchMonth + 2) / 5 + 1
        )
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-(value + 1)) / divisor) - 1
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
