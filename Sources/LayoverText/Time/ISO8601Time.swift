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
