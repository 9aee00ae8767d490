import LayoverHTTP

extension RFC3339 {
    /// Nanoseconds since 1970 UTC of a time with its offset, `2026-11-21T03:52:00.123Z` or `…+01:00` (RFC 3339
    /// section 5.6). Digits below a nanosecond are cut off; a leap second counts as the second after it.
    ///
    /// - Returns: Nil for any other text and a date that no calendar has. For a time beyond what can be counted in
    ///   nanoseconds, in the years 1677 and 2262, the first or the last that can.
    static func nanoseconds(of text: String) -> Int64? {
        var rest = text.utf8[...]
        guard let year = number(4, &rest), skip("-", &rest), let month = number(2, &rest), skip("-", &rest),
            let day = number(2, &rest), (1...12).contains(month),
            (1...dayCount(ofMonth: month, year)).contains(day), skip("Tt ", &rest),
            let time = timeOfDay(&rest), let offset = offset(&rest), rest.isEmpty
        else { return nil }
        let seconds = days(year, month, day) * 86_400 + time.seconds - offset
        let (scaled, isTooFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOver) = scaled.addingReportingOverflow(time.nanoseconds)
        return isTooFar || isOver ? (seconds < 0 ? .min : .max) : sum
    }

    private static func timeOfDay(_ rest: inout Substring.UTF8View) -> (seconds: Int64, nanoseconds: Int64)? {
        guard let hour = number(2, &rest), hour < 24, skip(":", &rest), let minute = number(2, &rest), minute < 60,
            skip(":", &rest), let second = number(2, &rest), second <= 60
        else { return nil }
        let seconds = hour * 3600 + minute * 60 + second
        guard skip(".", &rest) else { return (seconds, 0) }
        let digits = rest.prefix { (48...57).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest[digits.endIndex...]
        var nanoseconds: Int64 = 0
        for digit in digits.prefix(9) { nanoseconds = nanoseconds * 10 + Int64(digit - 48) }
        for _ in digits.count..<max(9, digits.count) { nanoseconds *= 10 }
        return (seconds, nanoseconds)
    }

    /// In seconds east of Greenwich.
    private static func offset(_ rest: inout Substring.UTF8View) -> Int64? {
        if skip("Zz", &rest) { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard skip("+-", &rest), let hours = number(2, &rest), hours < 24, skip(":", &rest),
            let minutes = number(2, &rest), minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
    }

    // MARK: Characters

    private static func number(_ count: Int, _ rest: inout Substring.UTF8View) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard (48...57).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - 48)
        }
        rest = rest.dropFirst(count)
        return value
    }

    /// Goes past one of these characters.
    private static func skip(_ characters: StaticString, _ rest: inout Substring.UTF8View) -> Bool {
        guard let first = rest.first, characters.description.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    // MARK: The calendar

    private static func dayCount(ofMonth month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01 of the Gregorian calendar. Years begin in March here, so that the day that leap years
    /// add is the last of its year.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        // Before the year 0 stands only a January or February of the year 0 itself.
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
