/// A text without the difference between capitals and small letters, in any alphabet.
///
/// First to capitals, then to small letters: that also makes one of `ß` and `SS`, and of the two forms
/// of a small sigma (Unicode section 3.13, caseless matching).
struct FoldedText: Hashable {
    private let text: String
    private let isASCII: Bool

    init(_ text: String) {
        isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        self.text = isASCII ? text.lowercased() : text.uppercased().lowercased()
    }

    func contains(_ part: FoldedText) -> Bool {
        // Bytes decide fast; other alphabets are compared by characters, so that composed and decomposed
        // letters are the same.
        if isASCII { return part.isASCII && contains(bytesOf: part.text) }
        return part.text.isEmpty || text.contains(part.text)
    }

    private func contains(bytesOf part: String) -> Bool {
        let (whole, part) = (Array(text.utf8), Array(part.utf8))
        guard let first = part.first else { return true }
        guard whole.count >= part.count else { return false }
        return (0...whole.count - part.count).contains { start in
            whole[start] == first && whole[start..<start + part.count].elementsEqual(part)
        }
    }
}
