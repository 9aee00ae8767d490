import LayoverHTTP

extension RFC3339 {
    /// Times that no clock reaches are shown as the last one that it does, in the year 2262.
    ///
    /// - Parameter seconds: Since 1970 UTC.
    static func text(seconds: Int) -> String {
        let (nanoseconds, isTooFar) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return text(nanoseconds: isTooFar ? (seconds < 0 ? .min : .max) : nanoseconds)
    }
}
