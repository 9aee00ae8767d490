import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverText
import NIOCore

/// Writes the lines of the access log. Whatever came from outside is escaped: it cannot end a line or a value.
struct AccessFormat {
    private let format: AccessLog.Format
    /// The second of the newest line, and its text.
    private var second = Int.min
    private var secondText = ""

    init(_ format: AccessLog.Format) { self.format = format }

    /// - Parameters:
    ///   - now: When the exchange ended.
    ///   - wall: When its request came, in nanoseconds since 1970.
    mutating func write(
        _ record: AccessRecord, _ outcome: AccessRecord.Outcome, now: Timestamp, wall: Int64, into out: inout ByteBuffer
    ) {
        let whole = Int(wall / 1_000_000_000)
        if whole != second { (second, secondText) = (whole, Self.text(of: whole, format)) }
        let upstream = record.attemptedAt.map { max(.zero, now - $0) }
        let values: [(name: StaticString, value: Value)] = [
            ("attempts", .number(record.attemptCount)), ("resumed", .number(record.resumedCount)),
            ("waited", .seconds(record.waited(until: now))),
            ("seconds", .seconds(now - record.createdAt)), ("upstream", .optionalSeconds(upstream)),
            ("upstreamHead", .optionalSeconds(record.upstreamHeadTime)), ("evidence", .word(record.failure?.evidence.rawValue)),
            ("failure", .word(record.failure?.kind.rawValue)), ("source", .word(record.source?.rawValue)),
            ("outcome", .word(outcome.rawValue)), ("entry", .word(record.entry?.description)),
            ("traceparent", .word(record.traceParent?.text)),
        ]
        switch format {
        case .combined: writeCombined(record, values, into: &out)
        case .json: writeJSON(record, values, millisecond: Int(wall / 1_000_000 % 1000), into: &out)
        }
        out.writeInteger(UInt8(ascii: "\n"))
    }

    /// A value that needs no escaping.
    private enum Value {
        case number(Int)
        case seconds(Duration)
        case optionalSeconds(Duration?)
        case word(String?)
    }

    // MARK: Combined

    private func writeCombined(
        _ record: AccessRecord, _ values: [(name: StaticString, value: Value)], into out: inout ByteBuffer
    ) {
        out.writeString(record.client)
        out.writeStaticString(" - ")
        writeUser(record.user, into: &out)
        out.writeStaticString(" [")
        out.writeString(secondText)
        out.writeStaticString("] \"")
        if let method = record.method, let url = record.url {
            writeQuoted(method, into: &out)
            out.writeStaticString(" ")
            writeQuoted(url, into: &out)
            out.writeStaticString(" ")
            out.writeString(record.version.name)
        } else {
            out.writeStaticString("-")
        }
        out.writeStaticString("\" ")
        out.writeString(record.status.map(String.init) ?? "-")
        out.writeStaticString(" ")
        out.writeString(String(record.sentByteCount))
        for text in [record.referer, record.userAgent] {
            out.writeStaticString(" \"")
            writeQuoted(text ?? "-", into: &out)
            out.writeStaticString("\"")
        }
        out.writeStaticString(" received=")
        out.writeString(String(record.receivedByteCount))
        for (name, value) in values {
            out.writeStaticString(" ")
            out.writeStaticString(name)
            out.writeStaticString("=")
            if !write(value, into: &out) { out.writeStaticString("-") }
        }
    }

    /// A space would begin the next field.
    private func writeUser(_ user: String?, into out: inout ByteBuffer) {
        let isWord = user.map { !$0.isEmpty && $0 != "-" && !$0.utf8.contains(UInt8(ascii: " ")) } ?? true
        if !isWord { out.writeStaticString("\"") }
        writeQuoted(user ?? "-", into: &out)
        if !isWord { out.writeStaticString("\"") }
    }

    // MARK: JSON

    private func writeJSON(
        _ record: AccessRecord, _ values: [(name: StaticString, value: Value)], millisecond: Int, into out: inout ByteBuffer
    ) {
        out.writeStaticString("{\"time\":\"")
        out.writeString(secondText)
        out.writeStaticString(".")
        writePadded(millisecond, digitCount: 3, into: &out)
        out.writeStaticString("Z\"")
        let texts: [(StaticString, String?)] = [
            ("client", record.client), ("user", record.user), ("method", record.method), ("url", record.url),
            ("protocol", record.method == nil ? nil : record.version.name),
        ]
        for (name, text) in texts { write(name, text, into: &out) }
        out.writeStaticString(",\"status\":")
        out.writeString(record.status.map(String.init) ?? "null")
        out.writeStaticString(",\"received\":")
        out.writeString(String(record.receivedByteCount))
        out.writeStaticString(",\"sent\":")
        out.writeString(String(record.sentByteCount))
        for (name, value) in values {
            writeName(name, into: &out)
            if case .word(let word?) = value {
                out.writeStaticString("\"")
                writeQuoted(word, into: &out)
                out.writeStaticString("\"")
            } else if !write(value, into: &out) {
                out.writeStaticString("null")
            }
        }
        write("userAgent", record.userAgent, into: &out)
        write("referer", record.referer, into: &out)
        out.writeStaticString("}")
    }

    private func writeName(_ name: StaticString, into out: inout ByteBuffer) {
        out.writeStaticString(",\"")
        out.writeStaticString(name)
        out.writeStaticString("\":")
    }

    private func write(_ name: StaticString, _ text: String?, into out: inout ByteBuffer) {
        writeName(name, into: &out)
        guard let text else { return _ = out.writeStaticString("null") }
        out.writeStaticString("\"")
        writeQuoted(text, into: &out)
        out.writeStaticString("\"")
    }

    // MARK: Values

    /// - Returns: Whether there is a value.
    private func write(_ value: Value, into out: inout ByteBuffer) -> Bool {
        switch value {
        case .number(let number): out.writeString(String(number))
        case .seconds(let duration): write(duration, into: &out)
        case .optionalSeconds(let duration?): write(duration, into: &out)
        case .word(let word?): out.writeString(word)
        case .optionalSeconds(nil), .word(nil): return false
        }
        return true
    }

    /// Seconds with six digits behind the point.
    private func write(_ duration: Duration, into out: inout ByteBuffer) {
        let microseconds = max(0, duration.nanosecondsSaturating / 1000)
        out.writeString(String(microseconds / 1_000_000))
        out.writeStaticString(".")
        writePadded(Int(microseconds % 1_000_000), digitCount: 6, into: &out)
    }

    private func writePadded(_ number: Int, digitCount: Int, into out: inout ByteBuffer) {
        let digits = String(number)
        for _ in digits.utf8.count..<max(digitCount, digits.utf8.count) { out.writeInteger(UInt8(ascii: "0")) }
        out.writeString(digits)
    }

    /// Most bytes of a text from outside; the rest is cut off. Default: 8 KiB.
    private static let textByteCountMax = 8 << 10

    /// The inside of a string, of JSON or of the combined format.
    private func writeQuoted(_ text: String, into out: inout ByteBuffer) {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        let isShort = text.utf8.count <= Self.textByteCountMax
        if isPlain, isShort { return _ = out.writeString(text) }
        let shown = isShort ? text : String(decoding: text.utf8.prefix(Self.textByteCountMax), as: UTF8.self) + "…"
        out.writeString(EscapedText.json(shown, .visible))
    }

    // MARK: Time

    /// A second since 1970, in UTC. The names of months do not follow the locale of the process.
    private static func text(of second: Int, _ format: AccessLog.Format) -> String {
        var time = time_t(second)
        var parts = tm()
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        let year = Int(parts.tm_year) + 1900
        switch format {
        case .combined: return "\(two(parts.tm_mday))/\(months[Int(parts.tm_mon) % 12])/\(year):\(clock) +0000"
        case .json: return "\(year)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T\(clock)"
        }
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
