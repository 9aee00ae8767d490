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
