import FoundationEssentials

/// Times in the forms of ISO 8601 that signatures use.
///
/// Foundation's parser takes much that is no time (30 February, 25 o'clock, junk at the end), so what it has read is written again
/// and must come out as it was.
enum ISO8601Time {
    /// `20260131T235959Z`.
    static func basicSeconds(_ text: String) -> Int? {
        guard text.utf8.count == 16, !text.utf8.contains(UInt8(ascii: "-")) else { return nil }
        return seconds(text, .init(dateSeparator: .omitted, timeSeparator: .omitted))
    }

    /// `2026-01-31`, `2026-01-31T23:59`, `2026-01-31T23:59:59`, with a fraction of up to seven digits, with `Z` or an offset or
    /// neither, which is UTC as well: what Azure Storage accepts
    /// (learn.microsoft.com/rest/api/storageservices/formatting-datetime-values).
    static func extendedSeconds(_ text: String) -> Int? {
        let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0].utf8.count == 10 else { return nil }
        guard parts.count == 2 else { return extended(day: parts[0], time: "00:00:00") }
        let clock = parts[1].prefix { $0 != "Z" && $0 != "+" && $0 != "-" }
        let zone = parts[1].dropFirst(clock.count)
        guard let offset = offsetSeconds(zone), let time = wholeTime(clock), let local = extended(day: parts[0], time: time)
        else { return nil }
        return local - offset
    }

    private static func extended(day: Substring, time: String) -> Int? {
        seconds("\(day)T\(time)Z", .init())
    }

    private static func seconds(_ text: String, _ style: Date.ISO8601FormatStyle) -> Int? {
        guard let date = try? Date(text, strategy: style), style.format(date) == text else { return nil }
        return Int(exactly: date.timeIntervalSince1970.rounded(.down))
    }

    /// Hours, minutes and seconds, without the fraction.
    private static func wholeTime(_ clock: Substring) -> String? {
        let parts = clock.split(separator: ".", omittingEmptySubsequences: false)
        switch (parts[0].utf8.count, parts.count) {
        case (5, 1): return parts[0] + ":00"
        case (8, 1): return String(parts[0])
        case (8, 2) where (1...7).contains(parts[1].utf8.count) && DigitText.number(parts[1]) != nil: return String(parts[0])
        default: return nil
        }
    }

    /// `Z`, nothing, or `+hh:mm` up to 23:59.
    private static func offsetSeconds(_ zone: Substring) -> Int? {
        if zone.isEmpty || zone == "Z" { return 0 }
        let parts = zone.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard zone.utf8.count == 6, parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }),
            let hours = DigitText.number(parts[0]), let minutes = DigitText.number(parts[1]), hours < 24, minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (zone.first == "-" ? -1 : 1)
    }
}
