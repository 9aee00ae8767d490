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

extension RFC3339 {
    /// Nanoseconds since 1970 UTC of a time with its offset, `2026-11-21T03:52:00.123Z` or `…+01:00` (RFC 3339
    /// section 5.6). Digits below a nanosecond are cut off; a leap second counts as the second after it.
    ///
    /// - Returns: Nil for any other text, and for a date that no calendar has. The times that can be counted in nanoseconds
    ///   begin in the year 1677 and end in 2262. An earlier time gives the first of them, a later time the last.
    package static func nanoseconds(of text: String) -> Int64? {
        var scanner = TimeScanner(text)
        guard let days = scanner.days(separator: "-"), scanner.skip("Tt "), let time = timeOfDay(&scanner),
            let offset = scanner.skip("Zz") ? 0 : scanner.offset(), scanner.rest.isEmpty
        else { return nil }
        let seconds = Int64(days * GregorianCalendar.secondsPerDay + time.seconds - offset)
        let (scaled, isTooFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOver) = scaled.addingReportingOverflow(time.nanoseconds)
        return isTooFar || isOver ? (seconds < 0 ? .min : .max) : sum
    }

    private static func timeOfDay(_ scanner: inout TimeScanner) -> (seconds: Int, nanoseconds: Int64)? {
        guard let hour = scanner.number(2), hour < 24, scanner.skip(":"), let minute = scanner.number(2), minute < 60,
            scanner.skip(":"), let second = scanner.number(2), second <= 60
        else { return nil }
        let seconds = hour * 3600 + minute * 60 + second
        guard scanner.skip(".") else { return (seconds, 0) }
        let digits = scanner.digits()
        guard !digits.isEmpty else { return nil }
        var nanoseconds: Int64 = 0
        for digit in digits.prefix(9) { nanoseconds = nanoseconds * 10 + Int64(digit - 48) }
        for _ in digits.count..<max(9, digits.count) { nanoseconds *= 10 }
        return (seconds, nanoseconds)
    }
}
