import LayoverText

/// The field line `Date` of the current second. Made once a second at most, so that a response costs no allocation for it.
struct DateLine {
    private var second = Int.min
    private var bytes: [UInt8] = []

    /// - Parameter second: Seconds since 1970.
    /// - Returns: The line with its CRLF.
    mutating func bytes(at second: Int) -> [UInt8] {
        if second != self.second {
            self.second = second
            bytes = Array("Date: \(HTTPDate.text(second))\r\n".utf8)
        }
        return bytes
    }
}
