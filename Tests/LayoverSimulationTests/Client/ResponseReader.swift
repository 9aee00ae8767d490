/// Reads responses from the bytes that a client gets, one after the other.
struct ResponseReader {
    struct Response: Hashable {
        var status: Int
        var fields: [String: String]
        var bodyByteCount = 0

        /// The request that the origin answered; nil for a response of the proxy's own.
        var requestNumber: Int? { fields["x-request"].flatMap { Int($0) } }
        var closes: Bool { fields["connection"] == "close" }
    }

    enum Event: Hashable {
        case interim(Int)
        case head(Response)
        /// Bytes of a body that says of which version it is, and where they stand in it.
        case bytes([UInt8], at: Int, Response)
        case complete(Response)
        case malformed(String)
    }

    private enum State {
        case head
        case body(Response, left: Int)
        case chunkHead(Response)
        case chunk(Response, left: Int)
        case chunkEnd(Response)
        case trailers(Response)
        case broken
    }

    private var state = State.head
    private var bytes: [UInt8] = []
    private var position = 0

    /// True if a response has begun and is not complete.
    var isInResponse: Bool {
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
            case .body(var response, let left):
                if left == 0 { return complete(response) }
                let count = min(left, bytes.count - position)
                guard count > 0 else { return nil }
                position += count
                response.bodyByteCount += count
                state = .body(response, left: left - count)
                if response.fields["etag"] != nil { return event(count, response) }
            case .chunkHead(let response):
                guard let line = line() else { return nil }
                guard let size = Int(line, radix: 16) else { return broken("chunk size \(line)") }
                state = size == 0 ? .trailers(response) : .chunk(response, left: size)
            case .chunk(var response, let left):
                if left == 0 {
                    state = .chunkEnd(response)
                    continue
                }
                let count = min(left, bytes.count - position)
                guard count > 0 else { return nil }
                position += count
                response.bodyByteCount += count
                state = .chunk(response, left: left - count)
                if response.fields["etag"] != nil { return event(count, response) }
            case .chunkEnd(let response):
                guard let line = line() else { return nil }
                guard line.isEmpty else { return broken("chunk end \(line)") }
                state = .chunkHead(response)
            case .trailers(let response):
                guard let line = line() else { return nil }
                if line.isEmpty { return complete(response) }
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
        let response = Response(status: status, fields: fields)
        if isHead() || status == 204 || status == 304 {
            state = .body(response, left: 0)
        } else if fields["transfer-encoding"] == "chunked" {
            state = .chunkHead(response)
        } else if let length = fields["content-length"].flatMap({ Int($0) }) {
            state = .body(response, left: length)
        } else {
            return broken("an answer without framing")
        }
        return .head(response)
    }

    private func event(_ count: Int, _ answer: Response) -> Event {
        .bytes(Array(bytes[position - count..<position]), at: answer.bodyByteCount - count, answer)
    }

    private mutating func complete(_ answer: Response) -> Event {
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
