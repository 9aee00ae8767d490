/// Names of hosts in other alphabets, which are sent in the letters of ASCII (`xn--…`, RFC 5891).
package enum InternationalName {
    /// Of a label that stands for a name in another alphabet.
    private static let prefix = Array("xn--".utf8)

    /// The name as people write it. Nil: no label of the name can be converted.
    package static func readable(_ host: String) -> String? {
        var host = host
        guard host.withUTF8({ ASCIIScan.contains(prefix, in: $0) }) else { return nil }
        var wasRead = false
        let labels = host.split(separator: ".", omittingEmptySubsequences: false).map { label in
            guard label.hasPrefix("xn--"), let text = decoded(label.dropFirst(4)) else { return String(label) }
            wasRead = true
            return text
        }
        return wasRead ? labels.joined(separator: ".") : nil
    }

    /// Decodes Punycode with the parameters of host names (RFC 3492 sections 5 and 6.2).
    static func decoded(_ text: Substring) -> String? {
        // No label of a host name is longer (RFC 1035 section 2.3.4), and the time is quadratic.
        guard text.utf8.count <= 59, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let delimiter = text.lastIndex(of: "-")
        var output = Array(text[..<(delimiter ?? text.startIndex)].unicodeScalars)
        var rest = text[(delimiter.map { text.index(after: $0) } ?? text.startIndex)...].utf8
        guard !rest.isEmpty else { return nil }
        var (code, position, bias) = (128, 0, 72)
        while !rest.isEmpty {
            let start = position
            var (weight, k) = (1, 36)
            while true {
                guard let digit = rest.popFirst().flatMap(value(of:)) else { return nil }
                position += digit * weight
                let threshold = min(max(k - bias, 1), 26)
                if digit < threshold { break }
                weight *= 36 - threshold
                k += 36
                guard position <= 0x10FFFF * 64, weight <= 0x10FFFF * 64 else { return nil }
            }
            let count = output.count + 1
            bias = adapted(position - start, count: count, isFirst: start == 0)
            code += position / count
            position %= count
            guard let scalar = UInt32(exactly: code).flatMap(Unicode.Scalar.init) else { return nil }
            output.insert(scalar, at: position)
            position += 1
        }
        var result = ""
        result.unicodeScalars.append(contentsOf: output)
        return result
    }

    private static func value(of digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(digit - UInt8(ascii: "a"))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit - UInt8(ascii: "0")) + 26
        default: nil
        }
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var k = 0
        while delta > 455 {
            delta /= 35
            k += 36
        }
        return k + 36 * delta / (delta + 38)
    }
}
