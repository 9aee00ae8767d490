import Foundation
import LayoverTestSupport

/// Makes requests for the admin port: every route, every parameter, field and key, with values from the edges of what
/// numbers, times and texts can be, and with bytes changed at random.
struct AdminRequestMutator {
    struct Made {
        var method: String
        var path: String
        var fields: [String: String]
        var body: String
    }

    /// Paths with `{id}` where an id stands, and their methods.
    private let routes: [(method: String, path: String)]
    private var generator: SeededGenerator
    /// Ids, cursors and ids of events that answers gave.
    var ids: [String] = []
    var cursors: [String] = []
    var eventIDs: [String] = []

    init(seed: UInt64, routes: [(method: String, path: String)]) {
        generator = SeededGenerator(seed: seed)
        self.routes = routes
    }

    mutating func next() -> Made {
        let route = pick(routes)
        var path = route.path.replacing("{id}", with: chance(9) ? pick(ids, else: number()) : text())
        if chance(5) || route.method == "GET" && chance(3) { path += "?" + query() }
        var made = Made(method: route.method, path: path, fields: fields(), body: "")
        if route.path == "/v1/events", !chance(4) {
            made.path = route.path
            made.fields["Last-Event-ID"] = eventID()
        }
        if route.method != "GET", !chance(8) {
            made.fields["Content-Type"] = "application/json"
            made.body = chance(40) ? scrambled(document(depth: 0)) : document(depth: 0)
        }
        if chance(40) { made.method = pick(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]) }
        if chance(20) { made.path = scrambled(made.path) }
        return made
    }

    // MARK: Parts

    private static let names = ["state", "host", "method", "lane", "q", "sort", "limit", "cursor", "url", "other"]

    private mutating func query() -> String {
        if chance(3) {
            // A cursor is looked at only where its order is that of the list.
            let sort = pick(["", "-"]) + pick(chance(2) ? ["parkedAt"] : Self.sorts)
            return "sort=\(sort)&cursor=\(sort).\(place())"
        }
        return anyQuery()
    }

    private mutating func anyQuery() -> String {
        (0...Int(generator.next() % 3)).map { _ in
            let name = pick(Self.names)
            return "\(name)=\(chance(3) ? escaped(value(of: name)) : value(of: name))"
        }.joined(separator: "&")
    }

    private mutating func value(of name: String) -> String {
        switch name {
        case "cursor": chance(3) ? cursor() : chance(2) ? scrambled(pick(cursors, else: cursor())) : number()
        case "sort": pick(["", "-"]) + pick(Self.sorts)
        case "state": pick(["waiting", "waiting,attempting,held,undecided", "delivered,cancelled", "failed", text()])
        case "url": pick(["http://shop.example/cart", "http://shop.example:\(number())/", "http://[::1]/", text()])
        case "host": pick(["shop.example", "shop.example:\(number())", "[::1]", text()])
        default: chance(2) ? number() : text()
        }
    }

    private static let sorts = [
        "attempts", "createdAt", "expiresAt", "host", "id", "lane", "method", "nextAttemptAt", "parkedAt", "policy",
        "priority", "requestBytes", "route", "state", "url",
    ]

    private mutating func cursor() -> String {
        "\(pick(["", "-"]))\(pick(Self.sorts)).\(place())"
    }

    private mutating func place() -> String {
        "\(pick(["n\(number())", "n\(number())", "t\(text())", "t6f", "t"])).\(number())"
    }

    /// A real event id, or the name of the run with any number. Without that name the number would not be parsed.
    private mutating func eventID() -> String {
        let known = pick(eventIDs, else: "x-0")
        return chance(4) ? known : "\(known.prefix { $0 != "-" })-\(number())"
    }

    private mutating func fields() -> [String: String] {
        var fields: [String: String] = [:]
        if chance(4) { fields["If-Match"] = pick(["*", "\"\(number())\"", "W/\"1\"", "\(number()), \"1\"", text()]) }
        if chance(4) { fields["Last-Event-ID"] = pick([number(), "x-\(number())", pick(ids, else: "0"), text()]) }
        if chance(4) { fields["Accept"] = pick(["application/jsonl", "*/*", text()]) }
        if chance(9) { fields["Content-Length"] = number() }
        if chance(9) { fields["Authorization"] = pick(["Bearer ", "Bearer \(text())", "Bearer secret", text()]) }
        return fields
    }

    // MARK: JSON

    private static let keys = [
        "ids", "filter", "all", "dryRun", "reason", "acknowledge", "priority", "expiresAt", "lane", "mode", "hint", "host",
        "url", "state", "method", "q",
    ]

    private mutating func document(depth: Int) -> String {
        let members = (0..<Int(generator.next() % 4)).map { _ in
            let key = pick(Self.keys)
            return "\(quoted(key)):\(json(key, depth: depth))"
        }
        return "{\(members.joined(separator: ","))}"
    }

    private mutating func json(_ key: String, depth: Int) -> String {
        switch (key, generator.next() % 5) {
        case (_, 0): return pick(["null", "true", "false", number(), "1e400", "-0", "1.5", "\"\\ud800\"", "[]", "{}"])
        case ("ids", _): return "[\((0..<Int(generator.next() % 4)).map { _ in quoted(pick(ids, else: number())) }.joined(separator: ","))]"
        case ("filter", _) where depth < 3: return document(depth: depth + 1)
        case ("all", _), ("dryRun", _): return pick(["true", "false"])
        case ("priority", _): return number()
        case ("expiresAt", _): return quoted(time())
        case ("mode", _): return quoted(pick(["auto", "online", "offline"]))
        case ("hint", _): return quoted("changed")
        case ("acknowledge", _): return quoted("duplicate-risk")
        case (_, 1): return String(repeating: "[", count: 2000)
        default: return quoted(text())
        }
    }

    private mutating func time() -> String {
        pick([
            "2026-01-01T02:00:00Z", "2261-12-31T23:59:59Z", "2262-04-11T23:47:16.854775807Z", "1677-09-21T00:12:43Z",
            "1678-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:60.999999999999-23:59", "2026-02-30T00:00:00Z",
            "2026-01-01T00:00:00+\(number()):00",
        ])
    }

    // MARK: Edges

    private mutating func number() -> String {
        let edges: [Int64] = [0, 1, -1, 2, 7, 8, 100, 999, 1000, 1001, .max, .max - 1, .min, .min + 1, 1 << 32, 1 << 53]
        return switch generator.next() % 6 {
        case 0: String(generator.next())
        case 1: String(Int64(truncatingIfNeeded: generator.next()))
        case 2: pick(["18446744073709551615", "18446744073709551616", "-9223372036854775809", "1e3", "0x10", "٣", "+1", "00"])
        default: String(pick(edges))
        }
    }

    private mutating func text() -> String {
        pick([
            "", " ", "a", "%", "%2", "%00", "%ff", "%c3%9f", "ß", "ſ", "😀", "-", ".", "..", ",", "~", "{id}", "/", "//", "[", "]:", "@",
            "tests", "\u{301}", String(repeating: "a", count: 5000), number(),
        ])
    }

    /// The same with some bytes changed, doubled or gone.
    private mutating func scrambled(_ text: String) -> String {
        var bytes = Array(text.utf8)
        for _ in 0...Int(generator.next() % 4) where !bytes.isEmpty {
            let index = Int(generator.next() % UInt64(bytes.count))
            switch generator.next() % 4 {
            case 0: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            default: bytes[index] = pick(Array("0123456789-.%&=?/\"{}[]:,\\".utf8))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func quoted(_ text: String) -> String {
        String(decoding: (try? JSONEncoder().encode(text)) ?? Data("\"\"".utf8), as: UTF8.self)
    }

    private func escaped(_ text: String) -> String {
        text.utf8.map { "%" + (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private mutating func chance(_ count: UInt64) -> Bool { generator.next() % count == 0 }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(generator.next() % UInt64(values.count))] }

    private mutating func pick(_ values: [String], else other: String) -> String {
        values.isEmpty ? other : pick(values)
    }
}
