/// Days of the Gregorian calendar, counted from 1970-01-01.
///
/// Both ways count by eras of 400 years that begin in March, so that the day that leap years add is the last of its year.
enum GregorianCalendar {
    static let secondsPerDay = 86_400
    private static let daysPerEra = 146_097
    /// From 0000-03-01 to 1970-01-01.
    private static let daysBefore1970 = 719_468

    /// - Parameters:
    ///   - month: 1 to 12.
    ///   - day: From 1. One that its month does not have is a day of the next month.
    static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = floor(year, 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * daysPerEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - daysBefore1970
    }

    static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let sinceEra0 = days + daysBefore1970
        let era = floor(sinceEra0, daysPerEra)
        let dayOfEra = sinceEra0 - era * daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * marchMonth + 2) / 5 + 1
        )
    }

    static func hasDay(year: Int, month: Int, day: Int) -> Bool {
        (1...12).contains(month) && (1...dayCount(ofMonth: month, year)).contains(day)
    }

    private static func dayCount(ofMonth month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The quotient, rounded down.
    static func floor(_ value: Int, _ divisor: Int) -> Int {
        value >= 0 ? value / divisor : -((-(value + 1)) / divisor) - 1
    }
}
