/// Times in the forms of ISO 8601 that signatures use, in seconds since 1970.
package enum ISO8601Time {
    /// `20260131T235959Z`.
    package static func basicSeconds(_ text: String) -> Int? {
        var scanner = TimeScanner(text)
        guard let days = scanner.days(separator: nil), scanner.skip("T"), let hour = scanner.number(2), hour < 24,
            let minute = scanner.number(2), minute < 60, let second = scanner.number(2), second < 60,
            scanner.skip("Z"), scanner.rest.isEmpty
        else { return nil }
        return days * GregorianCalendar.secondsPerDay + hour * 3600 + minute * 60 + second
    }

    /// `2026-01-31`, `2026-01-31T23:59`, `2026-01-31T23:59:59`, with a fraction of up to seven digits, with `Z` or an offset or
    /// neither, which is UTC as well: what Azure Storage accepts
    /// (learn.microsoft.com/rest/api/storageservices/formatting-datetime-values).
    package static func extendedSeconds(_ text: String) -> Int? {
        var scanner = TimeScanner(text)
        guard let days = scanner.days(separator: "-") else { return nil }
        let midnight = days * GregorianCalendar.secondsPerDay
        if scanner.rest.isEmpty { return midnight }
        guard scanner.skip("T"), let time = timeOfDay(&scanner),
            let offset = scanner.rest.isEmpty || scanner.skip("Z") ? 0 : scanner.offset(), scanner.rest.isEmpty
        else { return nil }
        return midnight + time - offset
    }

    /// The fraction is cut off.
    private static func timeOfDay(_ scanner: inout TimeScanner) -> Int? {
        guard let hour = scanner.number(2), hour < 24, scanner.skip(":"), let minute = scanner.number(2), minute < 60
        else { return nil }
        let minutes = hour * 3600 + minute * 60
        guard scanner.skip(":") else { return minutes }
        guard let second = scanner.number(2), second < 60 else { return nil }
        if scanner.skip("."), !(1...7).contains(scanner.digits().count) { return nil }
        return minutes + second
    }
}

/// Reads a time from its characters, one part after another.
struct TimeScanner {
    private(set) var rest: Substring.UTF8View

    init(_ text: String) { rest = text.utf8[...] }

    /// A number of exactly so many digits.
    mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count else { return nil }
        var value = 0
        for digit in digits {
            guard (48...57).contains(digit) else { return nil }
            value = value * 10 + Int(digit - 48)
        }
        rest = rest.dropFirst(count)
        return value
    }

    /// The digits that stand here, as many as there are.
    mutating func digits() -> Substring.UTF8View {
        let digits = rest.prefix { (48...57).contains($0) }
        rest = rest[digits.endIndex...]
        return digits
    }

    /// Goes past one of these characters.
    mutating func skip(_ characters: StaticString) -> Bool {
        guard let first = rest.first, characters.description.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Year, month and day with nothing or a separator between them, as days since 1970; nil for a date that no calendar has.
    mutating func days(separator: StaticString?) -> Int? {
        guard let year = number(4), skip(optional: separator), let month = number(2), skip(optional: separator),
            let day = number(2), GregorianCalendar.hasDay(year: year, month: month, day: day)
        else { return nil }
        return GregorianCalendar.days(year: year, month: month, day: day)
    }

    /// `+hh:mm` up to 23:59, in seconds east of Greenwich.
    mutating func offset() -> Int? {
        let isWest = rest.first == UInt8(ascii: "-")
        guard skip("+-"), let hours = number(2), hours < 24, skip(":"), let minutes = number(2), minutes < 60 else { return nil }
        return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
    }

    private mutating func skip(optional characters: StaticString?) -> Bool { characters.map { skip($0) } ?? true }
}
