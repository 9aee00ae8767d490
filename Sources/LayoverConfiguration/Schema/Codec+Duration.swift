import LayoverText

extension Codec where Value == Duration {
    /// A duration such as `250ms`, `1.5s`, `5m`, `24h` or `7d`.
    ///
    /// - Parameters:
    ///   - least: The shortest that is allowed.
    ///   - most: The longest that is allowed.
    static func duration(from least: Duration, to most: Duration) -> Codec {
        .text("duration", sample: "10s", write: DurationText.text) { (text) throws(Refusal) in
            let shown = JSONValue.text(text).excerpt
            guard let quantity = Quantity(text), let unit = DurationText.nanoseconds[quantity.unit] else {
                throw Refusal(message: "\(shown) is not a duration (write 250ms, 10s, 5m or 24h)")
            }
            guard let nanoseconds = quantity.scaled(by: unit), .nanoseconds(nanoseconds) <= most else {
                throw Refusal(message: "\(shown) is longer than \(DurationText.text(most))")
            }
            guard .nanoseconds(nanoseconds) >= least else {
                throw Refusal(message: "\(shown) is shorter than \(DurationText.text(least))")
            }
            return .nanoseconds(nanoseconds)
        }
    }

    /// A wait that makes no sense without length; at most a week, so that it fits the counters of
    /// the kernel and of libcurl once it is a number of milliseconds.
    static var timeout: Codec { duration(from: .milliseconds(1), to: .days(7)) }

    /// The life of something that waits.
    static var lifetime: Codec { duration(from: .milliseconds(1), to: .days(3650)) }
}

extension Codec where Value == FirstByteLimit {
    static var firstByte: Codec {
        let duration = Codec<Duration>.timeout.orNull
        return Codec(
            duration.typeName + " or \"none\"", fromText: duration.fromText,
            write: { $0 == .off ? .text("none") : duration.write($0.held) },
            read: { (value) throws(Refusal) in
                value == .text("none") ? .off : try duration.read(value).map(FirstByteLimit.after) ?? .standard
            })
    }
}
