import Testing

@testable import LayoverText

struct GregorianCalendarTests {
    @Test func everyDayOfEightCenturiesFollowsTheOneBefore() {
        var days = GregorianCalendar.days(year: 1599, month: 12, day: 31)
        for year in 1600..<2400 {
            for month in 1...12 {
                for day in 1...31 where GregorianCalendar.hasDay(year: year, month: month, day: day) {
                    days += 1
                    guard GregorianCalendar.days(year: year, month: month, day: day) == days,
                        GregorianCalendar.date(days: days) == (year, month, day)
                    else {
                        Issue.record("\(year)-\(month)-\(day)")
                        return
                    }
                }
            }
        }
        #expect(days == GregorianCalendar.days(year: 2400, month: 1, day: 1) - 1)
    }

    @Test(arguments: [(1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (0, 3, 1, -719_468), (0, 1, 1, -719_528)])
    func daysCountFrom1970(year: Int, month: Int, day: Int, days: Int) {
        #expect(GregorianCalendar.days(year: year, month: month, day: day) == days)
        #expect(GregorianCalendar.date(days: days) == (year, month, day))
    }

    @Test(arguments: [(2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, 32), (2026, 4, 31), (2026, 2, 29), (2100, 2, 29), (2000, 2, 30)])
    func aDateThatNoCalendarHasIsNone(year: Int, month: Int, day: Int) {
        #expect(!GregorianCalendar.hasDay(year: year, month: month, day: day))
    }
}
