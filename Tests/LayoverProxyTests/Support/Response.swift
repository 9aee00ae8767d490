/// One response as the client reads it from its bytes.
struct Answer: Sendable {
    enum End: Sendable { case none, length, chunked, close }

    var statusLine: String
    var status: Int
    /// `Name: value`, as they came.
    var fields: [String]
    var body = ""
    var trailers: [String] = []
    var end = End.none

    /// The values of a field.
    func values(_ name: String) -> [String] {
        fields.filter { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            .map { String($0.dropFirst(name.count + 1)).trimmed }
    }

    subscript(_ name: String) -> String? { values(name).first }

    /// The value of a member of a JSON object, as it is written there.
    func member(_ name: String) -> String? {
        guard let start = body.firstRange(of: "\"\(name)\":")?.upperBound else { return nil }
        let rest = body[start...]
        if rest.hasPrefix("\"") { return String(rest.dropFirst().prefix { $0 != "\"" }) }
        return String(rest.prefix { $0 != "," && $0 != "}" })
    }

    /// Takes one response out of what has come; nil while it is not complete.
    ///
    /// - Parameters:
    ///   - isEnded: True if the connection has ended.
    init?(takingFrom bytes: inout [UInt8], toHead: Bool, isEnded: Bool) {
        guard let headEnd = Self.index(of: "\r\n\r\n", in: bytes[...]) else { return nil }
        var lines = Self.text(bytes[..<headEnd]).split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
        statusLine = lines.removeFirst()
        status = statusLine.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        fields = lines
        let rest = bytes[(headEnd + 4)...]
        let hasBody = !toHead && status >= 200 && status != 204 && status != 304
        guard hasBody else {
            bytes = Array(rest)
            return
        }
        if self["Transfer-Encoding"] == "chunked" {
            end = .chunked
            guard let after = takeChunks(rest) else { return nil }
            bytes = Array(after)
        } else if let length = self["Content-Length"].flatMap({ Int($0) }) {
            end = .length
            guard rest.count >= length else { return nil }
            body = Self.text(rest.prefix(length))
            bytes = Array(rest.dropFirst(length))
        } else {
            end = .close
            guard isEnded else { return nil }
            body = Self.text(rest)
            bytes = []
        }
    }

    private mutating func takeChunks(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = bytes
        var content: [UInt8] = []
        while true {
            guard let lineEnd = Self.index(of: "\r\n", in: rest),
                let size = Int(Self.text(rest[..<lineEnd]), radix: 16)
            else { return nil }
            rest = rest[(lineEnd + 2)...]
            if size == 0 { break }
            guard rest.count >= size + 2 else { return nil }
            content += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        while let lineEnd = Self.index(of: "\r\n", in: rest) {
            let line = Self.text(rest[..<lineEnd])
            rest = rest[(lineEnd + 2)...]
            if line.isEmpty {
                body = Self.text(content[...])
                return rest
            }
            trailers.append(line)
        }
        return nil
    }

    static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func index(of text: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let wanted = Array(text.utf8)
        guard bytes.count >= wanted.count else { return nil }
        for start in bytes.startIndex...(bytes.endIndex - wanted.count)
        where bytes[start] == wanted[0] && bytes[start..<start + wanted.count].elementsEqual(wanted) {
            return start
        }
        return nil
    }
}

extension String {
    var trimmed: String {
        var text = Substring(self)
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// Each scalar up to U+00FF as one byte.
    var latin1: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}
