import LayoverText

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

/// A text without the difference between capitals and small letters, in any alphabet.
///
/// First to capitals, then to small letters: that also makes one of `ß` and `SS`, and of the two forms
/// of a small sigma (Unicode section 3.13, caseless matching).
struct FoldedText: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : text.uppercased().lowercased()
    }

    /// Compares by characters, so that composed and decomposed letters are the same.
    func contains(_ part: FoldedText) -> Bool { part.text.isEmpty || text.contains(part.text) }

    /// Whether another text is the same but for that difference. A text of ASCII is compared where it lies.
    func isSame(as other: String) -> Bool {
        var (text, other) = (text, other)
        let result = text.withUTF8 { text in
            other.withUTF8 { other -> Bool? in
                guard ASCIIScan.isASCII(text), ASCIIScan.isASCII(other) else { return nil }
                return ASCIIScan.compare(text, other) == 0
            }
        }
        return result ?? (FoldedText(other) == self)
    }

    /// Nil: some letters are not ASCII.
    var asciiBytes: [UInt8]? { text.utf8.allSatisfy { $0 < 0x80 } ? Array(text.utf8) : nil }
}

/// A part that is looked for in very many texts.
///
/// Most of them are ASCII. Those are compared byte by byte where they lie, and nothing is copied: a search in 100 000 entries has
/// less than a microsecond for each.
struct SearchedPart {
    private let folded: FoldedText
    /// Its small letters, if there are only ASCII letters in it.
    private let bytes: [UInt8]?

    init(_ text: String) {
        folded = FoldedText(text)
        bytes = folded.asciiBytes
    }

    /// Whether it may be a part of an id.
    var isHexadecimal: Bool {
        guard let bytes else { return false }
        return bytes.count <= 32 && bytes.allSatisfy(Hexadecimal.isLowercaseDigit)
    }

    /// Whether it may be a part of the mask of a secret.
    var isPartOfMask: Bool { bytes?.contains(UInt8(ascii: "*")) ?? false }

    func isIn(_ text: String) -> Bool {
        var text = text
        let found = text.withUTF8 { whole -> Bool? in
            guard ASCIIScan.isASCII(whole) else { return nil }
            guard let bytes else { return false }
            return ASCIIScan.contains(bytes, in: whole)
        }
        return found ?? FoldedText(text).contains(folded)
    }

    /// The same for a text that was folded before (`FoldedText`).
    func isInFolded(_ text: String) -> Bool {
        var text = text
        return text.withUTF8(isInFolded)
    }

    /// The same for a text that was folded before (`FoldedText`).
    func isInFolded(_ whole: UnsafeBufferPointer<UInt8>) -> Bool {
        // Most texts end here, whatever is in them.
        if let bytes, !ASCIIScan.contains(bytes, in: whole) { return false }
        if ASCIIScan.isASCII(whole) || bytes?.isEmpty == true { return bytes != nil }
        // Where there are other letters, a letter is found only with its marks.
        return String(decoding: whole, as: UTF8.self).contains(folded.text)
    }

    /// The same for the bytes of a text. What is no text has no part.
    func isIn(_ whole: UnsafeBufferPointer<UInt8>) -> Bool {
        guard ASCIIScan.isASCII(whole) else {
            return String(validating: whole, as: UTF8.self).map { FoldedText($0).contains(folded) } ?? false
        }
        guard let bytes else { return false }
        return ASCIIScan.contains(bytes, in: whole)
    }
}

/// Looks through bytes of ASCII text.
enum ASCIIScan {
    static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var all: UInt8 = 0
        for byte in bytes { all |= byte }
        return all < 0x80
    }

    /// Whether all of it is ASCII, and nothing percent-encoded.
    static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var isPlain = true
        for byte in bytes { isPlain = isPlain && byte < 0x80 && byte != UInt8(ascii: "%") }
        return isPlain
    }

    @inline(__always)
    static func small(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Whether there may be the id of a ticket: `ticket.` is before each of them (`MaskedTicketIDs`).
    static func hasTicketWord(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var dot = 6
        while dot < bytes.count {
            if bytes[dot] == UInt8(ascii: "."), bytes[dot - 1] == UInt8(ascii: "t"), bytes[dot - 2] == UInt8(ascii: "e"),
                bytes[dot - 3] == UInt8(ascii: "k")
            { return true }
            dot += 1
        }
        return false
    }

    /// Undoes percent-encoding (RFC 3986 section 2.1); what is none stays.
    ///
    /// - Parameter decoded: Has room for as many bytes.
    /// - Returns: How many it has got.
    static func percentDecode(_ bytes: UnsafeBufferPointer<UInt8>, to decoded: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var (index, count) = (0, 0)
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2])
            {
                decoded[count] = high << 4 | low
                index += 3
            } else {
                decoded[count] = bytes[index]
                index += 1
            }
            count += 1
        }
        return count
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch small(byte) {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): small(byte) - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// - Parameter part: In small letters.
    static func contains(_ part: [UInt8], in whole: UnsafeBufferPointer<UInt8>) -> Bool {
        part.withUnsafeBufferPointer { part in
            guard let first = part.first else { return true }
            guard whole.count >= part.count else { return false }
            var start = 0
            let last = whole.count - part.count
            while start <= last {
                if small(whole[start]) == first {
                    var length = 1
                    while length < part.count, small(whole[start + length]) == part[length] { length += 1 }
                    if length == part.count { return true }
                }
                start += 1
            }
            return false
        }
    }

    /// Compares without the difference of capitals: negative, 0 or positive.
    static func compare(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        var index = 0
        let count = min(left.count, right.count)
        while index < count {
            let (one, other) = (small(left[index]), small(right[index]))
            if one != other { return one < other ? -1 : 1 }
            index += 1
        }
        return left.count - right.count
    }
}
