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

/// Durations as people write them in the configuration, the admin API and the command line: `250ms 10s 5m 24h 7d`.
package enum DurationText {
    package static let nanoseconds: [String: Int] = [
        "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
        "d": 86_400_000_000_000,
    ]

    /// The duration in the largest unit that divides it. Days and minutes are used only from two on, because people write
    /// `24h` and `60s`.
    package static func text(nanoseconds total: Int) -> String {
        for (unit, least) in [("d", 2), ("h", 1), ("m", 2), ("s", 1), ("ms", 1)] {
            guard let size = nanoseconds[unit], total.isMultiple(of: size), total / size >= least else {
                continue
            }
            return "\(total / size)\(unit)"
        }
        return total == 0 ? "0s" : "\(Double(total) / 1_000_000)ms"
    }

    /// Nil for what is no duration, or too long to be one.
    package static func duration(_ text: String) -> Duration? {
        guard let quantity = Quantity(text), let unit = nanoseconds[quantity.unit] else { return nil }
        return quantity.scaled(by: unit).map { .nanoseconds($0) }
    }
}
