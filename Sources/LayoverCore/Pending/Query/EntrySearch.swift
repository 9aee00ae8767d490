/// The parts of an entry that `q` searches: host, path, shown id and error.
///
/// The query of the URL is not searched: its values may be secrets, and a search would reveal them. The ids of tickets in texts are
/// masked: a search could find them letter by letter.
package struct EntrySearch {
    private let part: SearchedPart
    private let naming: EntryNaming

    init(_ part: SearchedPart, _ naming: EntryNaming) {
        self.part = part
        self.naming = naming
    }

    /// Looks at an entry where it lies, without a copy of its texts.
    func finds(_ entry: Entry) -> Bool {
        if let target = entry.foldedTarget {
            if part.isInFolded(target) { return true }
        } else if part.isIn(entry.origin.hostField) || TargetText.withPlainPath(of: entry.url, part.isIn) == true {
            return true
        }
        if isInID(entry.id) { return true }
        guard let failure = entry.lastFailure else { return false }
        if part.isIn(failure.kind.rawValue) { return true }
        // What is not found in the text is not found in it when it is masked, unless it is the mask.
        guard part.isPartOfMask || part.isIn(failure.message) else { return false }
        return part.isIn(MaskedTicketIDs.text(failure.message))
    }

    /// Looks at what a store has kept of an entry for this.
    ///
    /// - Parameter foldedText: What `foldedText(of:)` gave.
    package func finds(_ id: EntryID, foldedText: UnsafeBufferPointer<UInt8>) -> Bool {
        part.isInFolded(foldedText) || isInID(id)
    }

    func finds(_ record: TicketRecord) -> Bool {
        part.isInFolded(Self.foldedText(of: record.origin, url: record.url, failure: record.lastFailure)) || isInID(record.id)
    }

    private func isInID(_ id: EntryID) -> Bool { part.isHexadecimal && naming.shown(id).withDigits(part.isIn) }

    // MARK: Folded texts

    /// All texts that are looked at but for the id, without the difference of capitals, one on each line.
    package static func foldedText(of origin: Origin, url: String, failure: Failure?) -> String {
        var text = foldedTarget(origin, url)
        guard let failure else { return text }
        text += "\n" + failure.kind.rawValue + "\n" + FoldedText(MaskedTicketIDs.text(failure.message)).text
        return text
    }

    /// Host and path of an entry, for one that has other letters than those of ASCII, or may have; nil for all others, which are read
    /// where they lie.
    static func foldedTarget(unlessPlain origin: Origin, _ url: String) -> String? {
        let isPlain = InternationalName.readable(origin.host) == nil && TargetText.withPlainPath(of: url) { _ in true } == true
        return isPlain ? nil : foldedTarget(origin, url)
    }

    private static func foldedTarget(_ origin: Origin, _ url: String) -> String {
        let path = MaskedTicketIDs.target(TargetText.path(of: url))
        let texts = [origin.hostField, InternationalName.readable(origin.host), path, TargetText.percentDecoded(path)]
        return FoldedText(texts.compactMap(\.self).joined(separator: "\n")).text
    }
}
