/// A decimal number with its unit, kept exact.
package struct Quantity: Sendable, Hashable {
    /// All digits, the point left out.
    let digits: Int
    /// How many of the digits stand after the point.
    let fractionDigitCount: Int
    package let unit: String

    /// Nil when the text is not digits, perhaps a point and more digits, then letters.
    package init?(_ text: String) {
        let whole = text.prefix { $0.isASCII && $0.isNumber }
        var rest = text[whole.endIndex...]
        var fraction: Substring = ""
        if rest.first == "." {
            fraction = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard !fraction.isEmpty, fraction.count <= 9 else { return nil }
            rest = rest[fraction.endIndex...]
        }
        guard !whole.isEmpty, !rest.isEmpty, rest.allSatisfy({ $0.isASCII && $0.isLetter }) else {
            return nil
        }
        // More digits than fit count as the largest number, which every limit refuses.
        digits = Int(whole + fraction) ?? .max
        fractionDigitCount = fraction.count
        unit = String(rest)
    }

    /// The number times the unit; nil if the product is too big or not whole.
    package func scaled(by unitSize: Int) -> Int? {
        let (product, overflow) = digits.multipliedReportingOverflow(by: unitSize)
        guard !overflow else { return nil }
        let divisor = (0..<fractionDigitCount).reduce(1) { power, _ in power * 10 }
        return product.isMultiple(of: divisor) ? product / divisor : nil
    }
}
