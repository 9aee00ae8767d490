/// The name of an incident: 128 random bits, never used again.
package struct IncidentID: Sendable, Hashable, CustomStringConvertible {
    private let bits: EntryID

    package init(using generator: inout some RandomNumberGenerator) { bits = EntryID(using: &generator) }

    /// Reads the text form; nil when it is not one.
    package init?(_ text: some StringProtocol) {
        guard let bits = EntryID(text) else { return nil }
        self.bits = bits
    }

    /// 32 lower-case hexadecimal digits.
    package var description: String { bits.description }
}
