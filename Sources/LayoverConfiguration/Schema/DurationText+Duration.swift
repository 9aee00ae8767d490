import LayoverCore
import LayoverText

extension DurationText {
    static func text(_ duration: Duration) -> String { text(nanoseconds: Int(duration.nanosecondsSaturating)) }
}

extension Duration {
    /// Civil days of 24 hours.
    static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
