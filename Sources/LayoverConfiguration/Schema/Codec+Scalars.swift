import LayoverCore
import LayoverText

extension Codec where Value == Bool {
    static var flag: Codec {
        Codec(
            "true or false",
            fromText: { $0 == "true" ? .bool(true) : $0 == "false" ? .bool(false) : .text($0) },
            write: { .bool($0) },
            read: { (value) throws(Refusal) in
                guard case .bool(let flag) = value else {
                    throw Refusal(message: value.mismatch("true or false"))
                }
                return flag
            })
    }
}

extension Codec where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> Codec {
        Codec(
            "whole number", fromText: { Int($0).map { .integer($0) } ?? .text($0) },
            write: { .integer($0) },
            read: { (value) throws(Refusal) in
                guard case .integer(let number) = value else {
                    throw Refusal(message: "\(value.excerpt) is not a whole number")
                }
                guard range.contains(number) else {
                    throw Refusal(
                        message: "\(number) is not between \(range.lowerBound) and \(range.upperBound)")
                }
                return number
            })
    }

    /// A number of bytes such as `512B`, `64KiB`, `1.5MiB` or `1GiB`; at most 1024 TiB.
    static func byteCount(from least: Int = 0) -> Codec {
        let units = ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40]
        return .text("size", sample: "64KiB", write: byteCountText) { (text) throws(Refusal) in
            let shown = JSONValue.text(text).excerpt
            guard let quantity = Quantity(text), let unit = units[quantity.unit] else {
                throw Refusal(message: "\(shown) is not a size (write 512B, 64KiB, 64MiB or 1GiB)")
            }
            guard let count = quantity.scaled(by: unit), count <= 1 << 50 else {
                throw Refusal(message: "\(shown) is more than 1024TiB or not a whole number of bytes")
            }
            guard count >= least else {
                throw Refusal(message: "\(shown) is less than \(byteCountText(least))")
            }
            return count
        }
    }

    /// Permissions of a file, three or four octal digits: `0660`.
    static var permissions: Codec {
        .text("octal permissions", sample: "0660", write: permissionsText) { (text) throws(Refusal) in
            guard (3...4).contains(text.utf8.count), let mode = Int(text, radix: 8),
                (0...0o777).contains(mode)
            else {
                throw Refusal(
                    message: "\(JSONValue.text(text).excerpt) is not octal permissions (write 0660)")
            }
            return mode
        }
    }

    @Sendable private static func permissionsText(_ mode: Int) -> String {
        "0" + String(mode, radix: 8)
    }

    private static func byteCountText(_ count: Int) -> String {
        for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] {
            if count > 0, count.isMultiple(of: 1 << shift) { return "\(count >> shift)\(unit)" }
        }
        return "\(count)B"
    }
}

extension Codec where Value == Double {
    /// - Parameters:
    ///   - least: The smallest that is allowed.
    ///   - most: The largest that is allowed.
    static func number(from least: Double, to most: Double) -> Codec {
        Codec(
            "number",
            fromText: { text in Double(text).flatMap { $0.isFinite ? written($0) : nil } ?? .text(text) },
            write: written,
            read: { (value) throws(Refusal) in
                let number: Double
                switch value {
                case .integer(let whole): number = Double(whole)
                case .number(let real): number = real
                default: throw Refusal(message: value.mismatch("a number"))
                }
                guard number >= least, number <= most else {
                    let range = "\(written(least).text) and \(written(most).text)"
                    throw Refusal(message: "\(value.excerpt) is not between \(range)")
                }
                return number
            })
    }

    /// A whole number is written as one: 2, not 2.0.
    @Sendable private static func written(_ number: Double) -> JSONValue {
        Int(exactly: number).map { .integer($0) } ?? .number(number)
    }
}

extension Codec
where Value: RawRepresentable & CaseIterable, Value.RawValue == String, Value.AllCases: Sendable {
    /// One of a few words.
    static var word: Codec {
        let words = Value.allCases.map(\.rawValue)
        let list = words.map { "\"\($0)\"" }
        return .text(list.joined(separator: ", "), write: \.rawValue) { (text) throws(Refusal) in
            if let value = Value(rawValue: text) { return value }
            throw Refusal(
                message: "\(JSONValue.text(text).excerpt) is not one of \(words.joined(separator: ", "))")
        }
    }
}

extension Codec where Value == Duration {
    /// A duration such as `250ms`, `1.5s`, `5m`, `24h` or `7d`.
    ///
    /// - Parameters:
    ///   - least: The shortest that is allowed.
    ///   - most: The longest that is allowed.
    static func duration(from least: Duration, to most: Duration) -> Codec {
        .text("duration", sample: "10s", write: DurationText.text) { (text) throws(Refusal) in
            let shown = JSONValue.text(text).excerpt
            guard let quantity = Quantity(text), let unit = DurationText.nanoseconds[quantity.unit] else {
                throw Refusal(message: "\(shown) is not a duration (write 250ms, 10s, 5m or 24h)")
            }
            guard let nanoseconds = quantity.scaled(by: unit), .nanoseconds(nanoseconds) <= most else {
                throw Refusal(message: "\(shown) is longer than \(DurationText.text(most))")
            }
            guard .nanoseconds(nanoseconds) >= least else {
                throw Refusal(message: "\(shown) is shorter than \(DurationText.text(least))")
            }
            return .nanoseconds(nanoseconds)
        }
    }

    /// A wait that makes no sense without length; at most a week, so that it fits the counters of
    /// the kernel and of libcurl once it is a number of milliseconds.
    static var timeout: Codec { duration(from: .milliseconds(1), to: .days(7)) }

    /// The life of something that waits.
    static var lifetime: Codec { duration(from: .milliseconds(1), to: .days(3650)) }
}

extension Codec where Value == FirstByteLimit {
    static var firstByte: Codec {
        let duration = Codec<Duration>.timeout.orNull
        return Codec(
            duration.typeName + " or \"none\"", fromText: duration.fromText,
            write: { $0 == .off ? .text("none") : duration.write($0.held) },
            read: { (value) throws(Refusal) in
                value == .text("none") ? .off : try duration.read(value).map(FirstByteLimit.after) ?? .standard
            })
    }
}

extension DurationText {
    static func text(_ duration: Duration) -> String { text(nanoseconds: Int(duration.nanosecondsSaturating)) }
}

extension Duration {
    /// Civil days of 24 hours.
    static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
