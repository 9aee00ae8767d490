import LayoverText

/// The value of `~uuid~`.
package enum RequestUUID {
    /// A random UUID, version 4 (RFC 9562 section 5.4), in lower case.
    ///
    /// It goes upstream, so it must have nothing to do with the id of the ticket, which is a secret of its client.
    package static func text(using generator: inout some RandomNumberGenerator) -> String {
        let high = generator.next() & ~0xF000 | 0x4000
        let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
        let digits = Array((Hexadecimal.text(high) + Hexadecimal.text(low)).utf8)
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return groups.map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: "-")
    }
}
