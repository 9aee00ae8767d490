import Foundation
import LayoverAdmin
import LayoverTestSupport
import Testing

@testable import layover

/// Colours are for terminals, and what comes from elsewhere is no command to a terminal.
struct ColorTests {
    private static let red = "\u{1B}[31m"
    private static let yellow = "\u{1B}[33m"

    @Test(.liveAdmin) func terminalGetsTheColoursOfStatesAndReachability() async throws {
        let id = admin.park(0xa).description
        let pending = try await PseudoTerminal.run(["pending", "--admin-url", admin.url])
        #expect(pending.output.contains("\(Self.yellow)waiting"), "\(pending)")
        let show = try await PseudoTerminal.run(["show", id, "--admin-url", admin.url])
        #expect(show.output.contains("\(Self.yellow)waiting"), "\(show)")
        try await run(["offline", "--admin-url", admin.url])
        let status = try await PseudoTerminal.run(["status", "--admin-url", admin.url])
        #expect(status.output.contains("\(Self.red)offline"), "\(status)")
        let json = try await PseudoTerminal.run(["pending", "--json", "--admin-url", admin.url])
        #expect(!json.output.contains("\u{1B}") && json.output.contains("shop.example"), "\(json)")
    }

    /// no-color.org: any value that is not empty.
    @Test(.liveAdmin, arguments: [["NO_COLOR": "1"], ["NO_COLOR": "0"], ["TERM": "dumb"]])
    func terminalWithoutColoursGetsTheSameText(environment: [String: String]) async throws {
        _ = admin.park(0xa)
        try await run(["offline", "--admin-url", admin.url])
        for arguments in [["status"], ["pending"], ["show", "a"], ["show", "f"]] {
            let arguments = arguments + ["--admin-url", admin.url]
            let plain = try await PseudoTerminal.run(arguments, environment: environment)
            #expect(!plain.output.contains("\u{1B}"), "\(plain)")
            let colored = try await PseudoTerminal.run(arguments)
            #expect(colored.output.contains("\u{1B}["), "\(colored)")
            #expect(Self.words(colored.output) == Self.words(plain.output))
        }
    }

    /// Without colours, and without numbers: ages go on between two runs.
    private static func words(_ text: String) -> String {
        text.replacing(#/\u{1B}\[[0-9]*m/#, with: "").replacing(#/[0-9 ]+/#, with: "")
    }

    @Test func errorsHaveAColourOnATerminalOnly() async throws {
        let arguments = ["status", "--admin-url", "http://127.0.0.1:1"]
        let onTerminal = try await PseudoTerminal.run(arguments)
        #expect(onTerminal.status == 2 && onTerminal.output.hasPrefix("\(Self.red)error:\u{1B}[0m cannot reach"), "\(onTerminal)")
        let piped = try await Command(RunningLayover.binary, arguments).with(["TERM": "xterm"]).run()
        #expect(piped.status == 2 && piped.errors.hasPrefix("error: cannot reach"), "\(piped)")
    }

    @Test(.liveAdmin) func pipeGetsNoColours() async throws {
        _ = admin.park(0xa)
        let piped = try await Command(RunningLayover.binary, ["pending", "--admin-url", admin.url]).with(["TERM": "xterm"]).run()
        #expect(piped.output.contains("waiting") && !piped.output.contains("\u{1B}"), "\(piped)")
    }

    /// Errors quote what was given and what the server says.
    @Test func errorsAreHarmless() {
        let line = StandardError.line("error", "a\u{1B}[2Jb\u{202E}c\u{9B}d\nusage", .plain)
        #expect(line == "error: a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}d\nusage")
    }

    @Test func jsonHasTheSameValuesWithoutRawControlCharacters() throws {
        let value = "\u{7F}\u{9B}2J\u{202E}\u{2028}\u{E0001} é 寿司 \\ \""
        let text = String(decoding: try JSONEncoder().encode([value]), as: UTF8.self)
        let safe = Terminal.safeJSON(text)
        #expect(!safe.unicodeScalars.contains(where: Self.isHarmful))
        #expect(try JSONDecoder().decode([String].self, from: Data(safe.utf8)) == [value])
        #expect(Terminal.safeJSON("{\n\t\"a\": 1\r\n}") == "{\n\t\"a\": 1\r\n}")
    }

    /// Any text of an entry may be an attacker's: host, path, lane, error, user agent, reason.
    @Test func noTextOfAnEntryReachesTheTerminalRaw() throws {
        var generator = HostileTexts(seed: 13)
        for _ in 1...500 {
            let entry = try JSONDecoder().decode(EntryDocument.self, from: Data(Self.entry { generator.next() }.utf8))
            let lines =
                EntryTable(entries: [entry], now: Date()).lines(Terminal(width: 60, hasColor: false, isInteractive: true))
                + EntryTable(entries: [entry], now: Date()).lines(.plain) + Show.lines(entry, now: Date()) + [WillGoText.line(entry)]
            #expect(!lines.contains { $0.unicodeScalars.contains(where: Self.isHarmful) }, "seed 13: \(lines)")
        }
    }

    static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value) || [0x61C, 0x200E, 0x200F, 0x2028, 0x2029].contains(scalar.value)
    }

    /// An entry whose texts are those given, as JSON.
    private static func entry(_ text: () -> String) -> String {
        """
        {"id":\(text()),"ticket":\(text()),"revision":1,"state":\(text()),"waitingFor":\(text()),"why":\(text()),
        "method":\(text()),"url":\(text()),"host":\(text()),"route":\(text()),"policy":\(text()),"lane":\(text()),
        "priority":2,"attempts":1,"automaticLeft":null,"createdAt":\(text()),"parkedAt":\(text()),"nextAttemptAt":\(text()),
        "expiresAt":\(text()),"lastFailure":{"kind":\(text()),"phase":\(text()),"evidence":\(text()),"message":\(text()),
        "at":\(text()),"curlCode":null,"osError":null},"lastCommand":{"name":\(text()),"who":\(text()),"from":\(text()),
        "at":\(text()),"reason":\(text())},"client":{"address":\(text()),"connected":true,"userAgent":\(text())},
        "requestBytes":0,"bodyReplayable":true,"incident":\(text()),"actions":[\(text())]}
        """
    }
}

/// Texts as JSON strings, made of characters that terminals act on and of harmless ones.
private struct HostileTexts {
    private static let pieces = [
        "\u{1B}[2J", "\u{1B}]0;title\u{7}", "\u{9B}31m", "\u{202E}", "\u{2066}", "\u{200F}", "\u{2028}", "\u{85}", "\r", "\n", "\t",
        "\u{8}", "\u{7F}", "\u{0}", "shop.example", "/", "é", "寿司", "👩‍👩‍👧", "\u{301}", "~", "waiting", "\"", "\\",
    ]
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> String {
        let text = (1...6).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined()
        return String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
    }
}
