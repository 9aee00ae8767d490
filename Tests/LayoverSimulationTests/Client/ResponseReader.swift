/// Reads answers from the bytes that a client gets, one after the other.
struct AnswerReader {
    struct Answer: Hashable {
        var status: Int
        var fields: [String: String]
        var bodyByteCount = 0

        /// The request that the origin answered; nil for a response of the proxy's own.
        var requestNumber: Int? { fields["x-request"].flatMap { Int($0) } }
        var closes: Bool { fields["connection"] == "close" }
    }

    enum Event: Hashable {
        case interim(Int)
        case head(Answer)
        /// Bytes of a body that says of which version it is, and where they stand in it.
        case bytes([UInt8], at: Int, Answer)
        case complete(Answer)
        case malformed(String)
    }

    private enum State {
        case head
        case body(Answer, left: Int)
        case chunkHead(Answer)
        case chunk(Answer, left: Int)
        case chunkEnd(Answer)
        case trailers(Answer)
        case broken
    }

    private var state = State.head
    private var bytes: [UInt8] = []
    private var position = 0

    /// True if a response has begun and is not complete.
    var isInAnswer: Bool {
        if case .head = state { return position < bytes.count }
        return true
    }

    mutating func append(_ new: some Sequence<UInt8>) { bytes.append(contentsOf: new) }

    /// - Parameter isHead: True if the request of this response was a HEAD.
    mutating func next(isHead: () -> Bool) -> Event? {
        while true {
            switch state {
            case .head:
                return readHead(isHead: isHead)
            case .body(var answer, let left):
                if left == 0 { return complete(answer) }
                let count = min(left, bytes.count - position)
                guard count > 0 else { return nil }
                position += count
                answer.bodyByteCount += count
                state = .body(answer, left: left - count)
                if answer.fields["etag"] != nil { return event(count, answer) }
            case .chunkHead(let answer):
                guard let line = line() else { return nil }
                guard let size = Int(line, radix: 16) else { return broken("chunk size \(line)") }
                state = size == 0 ? .trailers(answer) : .chunk(answer, left: size)
            case .chunk(var answer, let left):
                if left == 0 {
                    state = .chunkEnd(answer)
                    continue
                }
                let count = min(left, bytes.count - position)
                guard count > 0 else { return nil }
                position += count
                answer.bodyByteCount += count
                state = .chunk(answer, left: left - count)
                if answer.fields["etag"] != nil { return event(count, answer) }
            case .chunkEnd(let answer):
                guard let line = line() else { return nil }
                guard line.isEmpty else { return broken("chunk end \(line)") }
                state = .chunkHead(answer)
            case .trailers(let answer):
                guard let line = line() else { return nil }
                if line.isEmpty { return complete(answer) }
            case .broken:
                return nil
            }
        }
    }

    private mutating func readHead(isHead: () -> Bool) -> Event? {
        guard bytes[position...].starts(with: "HTTP/1.1".utf8.prefix(bytes.count - position)) else {
            return broken("\(bytes.count - position) bytes where a response begins")
        }
        let start = position
        var lines: [String] = []
        while let line = line() {
            if line.isEmpty { return begin(lines, isHead: isHead) }
            lines.append(line)
        }
        position = start
        return nil
    }

    private mutating func begin(_ lines: [String], isHead: () -> Bool) -> Event? {
        let parts = lines.first?.split(separator: " ") ?? []
        guard parts.count >= 2, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else {
            return broken("status line \(lines.first ?? "")")
        }
        if status < 200 { return .interim(status) }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return broken("field \(line)") }
            fields[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].drop { $0 == " " }.description
        }
        let answer = Answer(status: status, fields: fields)
        if isHead() || status == 204 || status == 304 {
            state = .body(answer, left: 0)
        } else if fields["transfer-encoding"] == "chunked" {
            state = .chunkHead(answer)
        } else if let length = fields["content-length"].flatMap({ Int($0) }) {
            state = .body(answer, left: length)
        } else {
            return broken("an answer without framing")
        }
        return .head(answer)
    }

    private func event(_ count: Int, _ answer: Answer) -> Event {
        .bytes(Array(bytes[position - count..<position]), at: answer.bodyByteCount - count, answer)
    }

    private mutating func complete(_ answer: Answer) -> Event {
        state = .head
        bytes.removeFirst(position)
        position = 0
        return .complete(answer)
    }

    private mutating func broken(_ detail: String) -> Event {
        state = .broken
        return .malformed(detail)
    }

    private mutating func line() -> String? {
        guard let end = bytes[position...].firstIndex(of: 10), end > position, bytes[end - 1] == 13 else {
            return nil
        }
        defer { position = end + 1 }
        return String(decoding: bytes[position..<end - 1], as: UTF8.self)
    }
}
