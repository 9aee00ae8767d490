package import Foundation

/// One request of the crash test, and all that its judge must know of it.
package struct CrashRequest: Sendable {
    package enum Way: String, Sendable, CaseIterable {
        /// `Prefer: respond-async, wait=0`
        case async
        /// `Layover-Mode: defer`
        case deferred
        /// `Prefer: respond-async, wait=1`
        case asyncWait
    }

    package struct Place: Sendable {
        package var lane: String
        /// Counts the requests that its only client has sent in this lane.
        package var number: Int
        /// True if undecided entries do not block the lane.
        package var skips: Bool
    }

    package let id: String
    package let method: String
    package let way: Way
    package let hasKey: Bool
    package let bodyByteCount: Int
    package let isChunked: Bool
    /// Behaviour of the origin at the first arrival of the request, the second …
    package let trouble: String
    package var place: Place?
    /// The request and the ticket it comes after.
    package var parent: (id: String, ticket: String)?

    /// RFC 9110 section 9.2.2, or its client said so.
    package var isRepeatable: Bool { method != "POST" || hasKey }

    /// Draws one.
    package init(id: String, using generator: inout SeededGenerator) {
        self.id = id
        method = ["POST", "POST", "POST", "PUT", "DELETE"].randomElement(using: &generator) ?? "POST"
        let draw = Int.random(in: 0..<20, using: &generator)
        way = draw == 0 ? .asyncWait : draw < 13 ? .async : .deferred
        hasKey = method == "POST" && Bool.random(using: &generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0 where method == "DELETE": bodyByteCount = 0
        case 0...1: bodyByteCount = Int.random(in: 65_000...260_000, using: &generator)
        default: bodyByteCount = method == "DELETE" ? 0 : Int.random(in: 1...3_000, using: &generator)
        }
        isChunked = bodyByteCount > 0 && Int.random(in: 0..<4, using: &generator) == 0
        trouble = Self.troubles.randomElement(using: &generator) ?? "ok"
    }

    /// Most arrivals go well.
    private static let troubles =
        ["reset", "half", "early", "slow", "slow", "big", "reset,slow", "slow,reset"] + Array(repeating: "ok", count: 16)

    /// As it goes to the proxy.
    package func bytes(origin: Int) -> Data {
        var head = "\(method) http://127.0.0.1:\(origin)/\(id) HTTP/1.1\r\nHost: 127.0.0.1:\(origin)\r\n"
        head += "X-Id: \(id)\r\nX-Trouble: \(trouble)\r\nConnection: close\r\n"
        switch way {
        case .async: head += "Prefer: respond-async, wait=0\r\n"
        case .deferred: head += "Layover-Mode: defer\r\n"
        case .asyncWait: head += "Prefer: respond-async, wait=1\r\n"
        }
        if hasKey { head += "Idempotency-Key: \"\(id)\"\r\n" }
        if let place {
            head += "Layover-Lane: \(place.lane)\r\n"
            if place.skips { head += "Layover-Policy: skips\r\n" }
        }
        if let parent { head += "Layover-After: \(parent.ticket)\r\n" }
        return Data(head.utf8) + framedBody
    }

    /// A line with the id, again and again: the origin knows it by the id alone.
    private var body: Data {
        let line = Data("\(id)\n".utf8)
        var body = Data(capacity: bodyByteCount + line.count)
        while body.count < bodyByteCount { body.append(line) }
        return body.prefix(bodyByteCount)
    }

    private var framedBody: Data {
        guard isChunked else {
            return Data((bodyByteCount > 0 || method != "DELETE" ? "Content-Length: \(bodyByteCount)\r\n\r\n" : "\r\n").utf8) + body
        }
        var framed = Data("Transfer-Encoding: chunked\r\n\r\n".utf8)
        var rest = body
        while !rest.isEmpty {
            let part = rest.prefix(10_000)
            framed += Data("\(String(part.count, radix: 16))\r\n".utf8) + part + Data("\r\n".utf8)
            rest = rest.dropFirst(part.count)
        }
        return framed + Data("0\r\n\r\n".utf8)
    }
}
