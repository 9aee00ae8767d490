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
