/// The order of texts in a list: as people sort them, whatever the case of letters, and letters with marks beside those without.
enum TextOrder {
    /// Negative, 0 or positive. Texts that differ only in case are equal here.
    static func compare(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        let result = left.withUTF8 { left in
            right.withUTF8 { right -> Int? in
                ASCIIScan.isASCII(left) && ASCIIScan.isASCII(right) ? ASCIIScan.compare(left, right) : nil
            }
        }
        if let result { return result }
        let (one, other) = (Collated(left), Collated(right))
        return one == other ? 0 : one < other ? -1 : 1
    }

    /// What is compared first: the letters without their marks. Only then the marks, and never the case.
    private struct Collated: Equatable {
        let base: String
        let folded: String

        init(_ text: String) {
            folded = text.uppercased().lowercased()
            var base = String.UnicodeScalarView()
            for scalar in folded.unicodeScalars
            where !scalar.properties.isDiacritic && scalar.properties.canonicalCombiningClass == .notReordered {
                base.append(contentsOf: TextOrder.base(of: scalar))
            }
            self.base = String(base)
        }

        static func < (one: Self, other: Self) -> Bool { (one.base, one.folded) < (other.base, other.folded) }
    }

    /// `é` and `ø` are sorted as `e` and `o`. The name of a letter in the Unicode character database tells what it is made of.
    private static func base(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        guard !scalar.isASCII, let name = scalar.properties.name, name.hasPrefix(latin) else { return [scalar] }
        let rest = name.dropFirst(latin.count)
        guard let letter = rest.unicodeScalars.first, rest.dropFirst().hasPrefix(" WITH ") else { return [scalar] }
        return Array(String(letter).lowercased().unicodeScalars)
    }

    private static let latin = "LATIN SMALL LETTER "
}
