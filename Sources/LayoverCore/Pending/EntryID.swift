import LayoverText

/// The name of an entry: 128 random bits, never used again.
package struct EntryID: Sendable, Hashable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    /// An id that was kept as two numbers.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(using generator: inout some RandomNumberGenerator) {
        high = generator.next()
        low = generator.next()
    }

    /// Reads the text form; nil when it is not one.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32 else { return nil }
        let digits = text.utf8
        let middle = digits.index(digits.startIndex, offsetBy: 16)
        guard let high = Self.number(digits[..<middle]), let low = Self.number(digits[middle...])
        else { return nil }
        self.high = high
        self.low = low
    }

    /// Both halves are random, and nobody else chooses them: one is enough.
    package func hash(into hasher: inout Hasher) { hasher.combine(low) }

    /// An order that means nothing, but is always the same.
    package func isBefore(_ other: EntryID) -> Bool { (high, low) < (other.high, other.low) }

    /// 32 lower-case hexadecimal digits.
    package var description: String { withDigits { String(decoding: $0, as: UTF8.self) } }

    /// Shows its digits without making a text of them.
    func withDigits<Value>(_ work: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digits in
            for index in 0..<16 {
                let shift = UInt64(60 - 4 * index)
                digits[index] = Hexadecimal.digit(UInt8(truncatingIfNeeded: high >> shift & 0xF))
                digits[index + 16] = Hexadecimal.digit(UInt8(truncatingIfNeeded: low >> shift & 0xF))
            }
            return work(UnsafeBufferPointer(digits))
        }
    }

    private static func number(_ digits: some Sequence<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            guard Hexadecimal.isLowercaseDigit(digit), let number = Hexadecimal.value(of: digit) else { return nil }
            value = value << 4 | UInt64(number)
        }
        return value
    }
}

/// By what ids people and programs see entries on the admin port.
///
/// The id of an entry is also the address of its ticket: who knows it may read the response and give the ticket up. So the
/// admin port, the log and the events show another id, from which only this process can compute the first.
package struct EntryNaming: Sendable {
    /// The id that is shown for an entry: as unguessable as its own, always the same, and another one for each entry.
    package var shown: @Sendable (EntryID) -> EntryID
    /// The way back: the entry that a shown id means, if there is one.
    package var meant: @Sendable (EntryID) -> EntryID

    package init(
        shown: @escaping @Sendable (EntryID) -> EntryID, meant: @escaping @Sendable (EntryID) -> EntryID
    ) {
        self.shown = shown
        self.meant = meant
    }

    /// Ids are shown as they are. For tests and simulations, which have no secrets.
    package static let plain = EntryNaming(shown: { $0 }, meant: { $0 })
}

/// Hides the ids of tickets in texts: a target may hold a token (`~ticket.ID.location~`), and the file of a body is
/// called by its ticket.
package enum MaskedTicketIDs {
    private static let idCount = 32
    private static let word = Array("ticket.".utf8)
    private static let mask = Array(MaskedURL.mask.utf8)

    /// In a message: wherever 32 hexadecimal digits stand alone.
    package static func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count >= idCount else { return text }
        var masked: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex { !Hexadecimal.isLowercaseDigit($0) } ?? bytes.count
            masked += end - start == idCount ? mask : Array(bytes[start..<end])
            if end < bytes.count { masked.append(bytes[end]) }
            start = end + 1
        }
        return String(decoding: masked, as: UTF8.self)
    }

    /// In a target: in its tokens, whose characters may be percent-encoded, each of them (RFC 3986 section 2.1).
    package static func target(_ target: String) -> String {
        let spelled = Array(target.utf8)
        guard spelled.count >= idCount else { return target }
        let (bytes, places) = percentDecoded(spelled)
        var masked: [UInt8] = []
        var copiedCount = 0
        var rest = bytes[...]
        while let found = rest.firstRange(of: word) {
            let digits = rest[found.upperBound...].prefix(while: Hexadecimal.isLowercaseDigit)
            if digits.count >= idCount {
                masked += spelled[copiedCount..<places[digits.startIndex]] + mask
                copiedCount = places[digits.endIndex]
            }
            rest = rest[digits.endIndex...]
        }
        return String(decoding: masked + spelled[copiedCount...], as: UTF8.self)
    }

    /// - Returns: The characters, where each begins, and last where all of them end.
    private static func percentDecoded(_ spelled: [UInt8]) -> (bytes: [UInt8], places: [Int]) {
        var bytes: [UInt8] = []
        var places: [Int] = []
        var place = 0
        while place < spelled.count {
            places.append(place)
            if let octet = PercentCoding.octet(at: place, in: spelled) {
                bytes.append(octet)
                place += 3
            } else {
                bytes.append(spelled[place])
                place += 1
            }
        }
        return (bytes, places + [spelled.count])
    }
}
