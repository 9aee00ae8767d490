import LayoverText

/// Values of a response that concern another attempt.
extension ResponseHead {
    /// The wait that the origin asks for: `Retry-After` in seconds or as a date (RFC 9110 section 10.2.3), or
    /// `Retry-After-Ms`, which providers of language models send for short waits and which is more exact.
    ///
    /// - Parameter now: Seconds since 1970. A date counts from the response's own `Date` where it has one, so
    ///   that clocks that differ do no harm.
    /// - Returns: Never negative; nil if the response has no readable value.
    package func retryAfter(now: Int) -> Duration? {
        let fields = self.fields()
        if let text = fields.values(of: "Retry-After-Ms").first.map(fields.string), let wait = Double(text),
            wait.isFinite, (0...1e12).contains(wait)
        {
            return .milliseconds(wait)
        }
        guard let text = fields.values(of: "Retry-After").first.map(fields.string) else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // A number with too many digits for `Int` counts as `Int32.max` seconds.
            return .seconds(Int(text) ?? Int(Int32.max))
        }
        guard let at = HTTPDate.seconds(text, now: now) else { return nil }
        let date = fields.values(of: "Date").first.map(fields.string)
        return .seconds(max(0, at - (date.flatMap { HTTPDate.seconds($0, now: now) } ?? now)))
    }

    /// Whether the origin says that another attempt is of no use (`X-Should-Retry: false`).
    package var forbidsRetry: Bool {
        let fields = self.fields()
        return fields.values(of: "X-Should-Retry").contains { fields.equalsIgnoringCase($0, "false") }
    }
}
