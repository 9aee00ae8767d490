/// Places of the fields that the proxy writes itself (`Host`, framing, `Expect`): for each, the number of forwarded fields before it.
///
/// They count the fields that `RequestHead.writeForwardedFields` writes. A later change of these fields only moves the places.
package struct FieldPlaces: Sendable, Hashable {
    /// Default: before all others (RFC 9110 section 7.2 recommends that).
    package var host: UInt16 = 0
    /// Of Content-Length or Transfer-Encoding. Default: behind all others.
    package var framing = UInt16.max
    /// Of `Expect`. Default: behind all others.
    package var expect = UInt16.max

    package init(host: UInt16 = 0, framing: UInt16 = .max, expect: UInt16 = .max) {
        self.host = host
        self.framing = framing
        self.expect = expect
    }

    mutating func note(_ field: KnownField, at count: Int) {
        let place = UInt16(clamping: count)
        switch field {
        case .host: host = place
        case .contentLength, .transferEncoding: framing = min(framing, place)
        case .expect: expect = min(expect, place)
        default: break
        }
    }
}
