import Foundation
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverReplay

/// For every input: bytes outside of tokens stay, and the output is valid in its place.
struct TokenFuzzTests {
    private static let rounds = 2000

    /// Runs a test with many generators. Every failure names its seed.
    private func repeatedly(_ body: (inout SeededGenerator, Comment) throws -> Void) throws {
        let first = UInt64(ProcessInfo.processInfo.environment["LAYOVER_SEED"] ?? "") ?? 1
        for seed in first..<(first + UInt64(Self.rounds)) {
            var generator = SeededGenerator(seed: seed)
            do {
                try body(&generator, "LAYOVER_SEED=\(seed)")
            } catch {
                Issue.record(error, "LAYOVER_SEED=\(seed)")
            }
        }
    }

    private static let pieces = [
        "~", "~~", "ticket.", "uuid", "~uuid", "%7E", "%7", "\\u007e", "\\", "\"", "/", "?", "&", "=", "%", "ü", " ", "\n", "{", "[", ":",
        ",", "1", "a.b",
    ]

    private func text(_ generator: inout SeededGenerator, avoiding isBad: (String) -> Bool) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...30, using: &generator) {
            let piece = Self.pieces.randomElement(using: &generator) ?? ""
            if !isBad(text + piece) { text += piece }
        }
        return text
    }

    /// No token in any spelling: neither `~ticket.` nor `~uuid~` once everything is decoded.
    private func hasToken(_ text: String) -> Bool {
        let decoded = text.replacing("\\u007e", with: "~").replacing("%7E", with: "~")
        return decoded.contains("~ticket.") || decoded.contains("~uuid~")
    }

    @Test func aRequestWithoutTokensStaysAsItIs() throws {
        try repeatedly { generator, seed in
            let type = ["application/json", "application/x-www-form-urlencoded", "text/plain"].randomElement(using: &generator) ?? ""
            let value = text(&generator, avoiding: { $0.contains("\n") || hasToken($0) })
            let request = TokenRequest(
                target: "/" + text(&generator, avoiding: hasToken), fields: requestLines("Content-Type: \(type)", "X: \(value)", "Y: "),
                body: ByteBuffer(string: text(&generator, avoiding: hasToken)))
            let scan = try TokenScan(request)
            #expect(!scan.hasTokens, seed)
            #expect(try Substitution(.created()).applied(to: request) == request, seed)
        }
    }

    @Test func noBytesAreFatal() throws {
        let tokens = [
            "~ticket.\(one).json.v~", "~ticket.\(one).location~", "~ticket.\(one).field.x~", "~uuid~", "%7Euuid%7E", "\\u007euuid~",
        ]
        try repeatedly { generator, seed in
            func bytes() -> [UInt8] {
                var text = Array(
                    (0..<Int.random(in: 0...12, using: &generator)).flatMap { _ in
                        Array(((Self.pieces + tokens).randomElement(using: &generator) ?? "").utf8)
                    })
                for _ in 0..<Int.random(in: 0...2, using: &generator) where !text.isEmpty {
                    text[Int.random(in: 0..<text.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                }
                return text
            }
            let type = ["application/json", "application/x-www-form-urlencoded"].randomElement(using: &generator) ?? ""
            let request = TokenRequest(
                target: String(decoding: bytes(), as: UTF8.self),
                fields: RequestFields(lines: ByteBuffer(bytes: Array("Content-Type: \(type)\0X: ".utf8) + bytes())),
                body: ByteBuffer(bytes: bytes()))
            let response = ParentResponse.created(ByteBuffer(bytes: Array("X: y\r\nLocation: ".utf8) + bytes()), body: #"{"v":"w"}"#)
            _ = try? Substitution(response).applied(to: request)
            // If the scan finds a token in a body, the search has found it too.
            guard let body = request.body, (try? TokenScan(request).isInBody) == true else { return }
            var search = TildeSearch(BodyType(fields: request.fields))
            search.read(body)
            #expect(search.hasFound, seed)
        }
    }

    // MARK: Places

    /// Any text, also with what has a meaning somewhere.
    private func value(_ generator: inout SeededGenerator) -> String {
        String(
            String.UnicodeScalarView(
                (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                    switch Int.random(in: 0...3, using: &generator) {
                    case 0: "\"\\/%&=+?#~.: \r\n\t\u{1F}\u{7F}\0".unicodeScalars.randomElement(using: &generator) ?? "x"
                    case 1: Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator)) ?? "\u{FFFD}"
                    default: Unicode.Scalar(UInt8.random(in: 0x20...0x7E, using: &generator))
                    }
                }))
    }

    private func answer(_ value: String) throws -> ParentResponse {
        .created(body: String(decoding: try JSONEncoder().encode(["v": value]), as: UTF8.self))
    }

    private let token = "~ticket.\(one).json.v~"

    @Test func inJSONTheDecodedStringIsTheValue() throws {
        try repeatedly { generator, seed in
            let value = value(&generator)
            let request = TokenRequest.json(#"{"\#(token)":["x\#(token)\ny","\u007e\#(token.dropFirst())"],"n":1.50}"#)
            let body = try #require(try Substitution(try answer(value)).applied(to: request).body)
            let decoded = try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any]
            let list = try #require(decoded?[value] as? [String])
            // Scalars, because Swift takes texts for equal that Unicode does.
            #expect(list.map { Array($0.unicodeScalars) } == [Array("x\(value)\ny".unicodeScalars), Array(value.unicodeScalars)], seed)
            #expect(String(buffer: body).hasSuffix(#"],"n":1.50}"#), seed)
        }
    }

    @Test func inAFormTheDecodedPairIsTheValue() throws {
        try repeatedly { generator, seed in
            let value = value(&generator)
            let body = try #require(try Substitution(try answer(value)).applied(to: .form("a=\(token)&b=%7E\(token.dropFirst())&c=1")).body)
            let pairs = String(buffer: body).split(separator: "&", omittingEmptySubsequences: false).map { pair in
                pair.replacing("+", with: " ").removingPercentEncoding.map { Array($0.unicodeScalars) }
            }
            #expect(pairs == [Array("a=\(value)".unicodeScalars), Array("b=\(value)".unicodeScalars), Array("c=1".unicodeScalars)], seed)
        }
    }

    @Test func aTargetStaysATarget() throws {
        try repeatedly { generator, seed in
            let value = value(&generator)
            let target = try? Substitution(try answer(value)).applied(to: .get("/a/\(token)/b?c=\(token)&d")).target
            guard let target else {
                #expect(value == "." || value == "..", seed)
                return
            }
            #expect(isTarget(target), seed)
            let segments = target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
            #expect(segments.count == 4 && segments[1] == "a" && segments[3] == "b", seed)
            #expect(segments[2].removingPercentEncoding.map { Array($0.unicodeScalars) } == Array(value.unicodeScalars), seed)
        }
    }

    @Test func aLocationMakesATargetOrIsRejected() throws {
        var madeCount = 0
        try repeatedly { generator, seed in
            let prefix =
                ["", "/", "//", "https://api.example.com", "https://api.example.com/", "https:", "?", "../", "x"].randomElement(
                    using: &generator) ?? ""
            let line = ByteBuffer(string: "Location: " + (prefix + value(&generator)).filter { !$0.isNewline && $0 != "\0" } + "\r\n")
            let template =
                ["/@", "/@/x", "/b/@?y"].randomElement(using: &generator)?.replacing("@", with: "~ticket.\(one).location~") ?? ""
            do {
                let target = try Substitution(.created(line)).applied(to: .get(template)).target
                madeCount += 1
                #expect(target.hasPrefix("/") && isTarget(target), seed)
            } catch {
                let error = try #require(error as? TokenError)
                #expect(error.code == .rejected || error.code == .missing, seed)
            }
        }
        #expect(madeCount > Self.rounds / 10)
    }

    @Test func fuzzedFieldStaysOneLine() throws {
        try repeatedly { generator, seed in
            let value = value(&generator)
            let result = try? Substitution(try answer(value)).applied(to: .get("/", requestLines("A: 1", "X: <\(token)>", "B: 2"))).fields
            let hasControl = value.unicodeScalars.contains { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F }
            #expect((result == nil) == hasControl, seed)
            if let result {
                #expect(
                    Array(result.lines.readableBytesView) == Array(requestLines("A: 1", "X: <\(value)>", "B: 2").lines.readableBytesView),
                    seed)
            }
        }
    }

    /// As the proxy's own parser reads it.
    private func isTarget(_ target: String) -> Bool {
        var decoder = RequestDecoder()
        var input = ByteBuffer(string: "GET \(target) HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
        guard case .head(let head)? = try? decoder.next(&input) else { return false }
        return head.target == .origin && head.targetRange.count == target.utf8.count
    }
}
