/// A moment as HTTP writes it, and in the three forms that RFC 9110 section 5.6.7 makes every recipient read.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Seconds since 1970 in UTC; nil if the text is no date.
    ///
    /// - Parameter now: Seconds since 1970, by which a year of two digits is understood: one that seems more
    ///   than 50 years ahead is of the century before.
    package static func seconds(_ text: some StringProtocol, now: Int) -> Int? {
        let words = String(text).split(separator: Character(" ")).map { String($0) }
        switch words.count {
        case 6 where words[5] == "GMT":
            return seconds(day: words[1], month: words[2], year: words[3], time: words[4], now: now)
        case 4 where words[3] == "GMT":
            let date = words[1].split(separator: Character("-")).map { String($0) }
            guard date.count == 3, date[2].utf8.count == 2 else { return nil }
            return seconds(day: date[0], month: date[1], year: date[2], time: words[2], now: now)
        case 5:
            return seconds(day: words[2], month: words[1], year: words[4], time: words[3], now: now)
        default:
            return nil
        }
    }

    private static func seconds(day: String, month: String, year: String, time: String, now: Int) -> Int? {
        let clock = time.split(separator: Character(":"), omittingEmptySubsequences: false).map { number(String($0)) }
        guard let day = number(day), (1...31).contains(day), let month = months.firstIndex(of: month),
            let written = number(year), clock.count == 3, let hour = clock[0], hour < 24,
            let minute = clock[1], minute < 60, let second = clock[2], second <= 60
        else { return nil }
        guard year.utf8.count == 2 || year.utf8.count == 4 else { return nil }
        let full = year.utf8.count == 4 ? written : century(written, now: now)
        let days = GregorianCalendar.days(year: full, month: month + 1, day: day)
        return days * GregorianCalendar.secondsPerDay + hour * 3600 + minute * 60 + second
    }

    /// The form that senders use: `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter second: Seconds since 1970.
    package static func text(_ second: Int) -> String {
        let second = max(0, second)
        let (days, ofDay) = second.quotientAndRemainder(dividingBy: GregorianCalendar.secondsPerDay)
        let date = GregorianCalendar.date(days: days)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = "\(two(ofDay / 3600)):\(two(ofDay / 60 % 60)):\(two(ofDay % 60))"
        return "\(weekdays[days % 7]), \(two(date.day)) \(months[date.month - 1]) \(date.year) \(clock) GMT"
    }

    /// The first day of 1970 was a Thursday.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    private static func number(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 4, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func century(_ year: Int, now: Int) -> Int {
        let thisYear = 1970 + now / 31_556_952
        let full = thisYear / 100 * 100 + year
        return full > thisYear + 50 ? full - 100 : full
    }
}
