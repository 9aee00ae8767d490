/// By what ids people and programs see entries on the admin port.
///
/// The id of an entry is also the address of its ticket: who knows it may read the answer and give the ticket up. So the
/// admin port, the log and the events show another id, from which nobody gets back to the first but this process.
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

    /// Ids are shown as they are. For tests and simulations, where nobody could read what is not theirs.
    package static let plain = EntryNaming(shown: { $0 }, meant: { $0 })
}

/// Hides the ids of tickets in texts: a target may hold a token (`~ticket.ID.location~`), and the file of a body is
/// called by its ticket.
package enum MaskedTicketIDs {
    private static let idCount = 32

    /// - Parameter word: Only behind this word; nil: wherever 32 hexadecimal digits stand alone.
    package static func text(_ text: String, after word: StaticString? = nil) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count >= idCount else { return text }
        let word = word.map { Array($0.description.utf8) } ?? []
        var masked: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
            let isMeant = word.isEmpty ? end - start == idCount : end - start >= idCount && masked.suffix(word.count) == word[...]
            masked += isMeant ? Array(MaskedURL.mask.utf8) : Array(bytes[start..<end])
            if end < bytes.count { masked.append(bytes[end]) }
            start = end + 1
        }
        return String(decoding: masked, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
