import Foundation

/// Times relative to now, for people.
enum TimeText {
    /// `12s`, `4m`, `3h`, `2d`; `-` for an unreadable time.
    static func distance(_ time: String?, from now: Date) -> String {
        guard let time, let date = date(time) else { return "-" }
        return span(abs(date.timeIntervalSince(now)))
    }

    static func span(_ seconds: Double) -> String {
        switch seconds {
        case ..<120: "\(Int(seconds.rounded()))s"
        case ..<7200: "\(Int(seconds / 60))m"
        case ..<172_800: "\(Int(seconds / 3600))h"
        default: "\(Int(seconds / 86_400))d"
        }
    }

    static func date(_ time: String) -> Date? {
        try? Date(time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
