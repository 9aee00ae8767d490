import Foundation
import LayoverAdmin
import Testing

@testable import layover

/// The screen of `layover pending --watch`.
struct PendingScreenTests {
    private let screen = PendingScreen(host: nil, states: nil)
    private static let now = Date(timeIntervalSince1970: 1_767_225_700)  // 100 s after the fixture was parked

    private static func snapshot(_ entries: [String]) -> EventReader.Event {
        .init(id: "", name: "snapshot", data: "{\"data\":[\(entries.joined(separator: ","))],\"counts\":{},\"nextCursor\":null}")
    }

    private static func terminal(width: Int? = nil, height: Int? = nil) -> Terminal {
        Terminal(width: width, height: height, hasColor: false, isInteractive: true)
    }

    @Test func listThatIsHigherThanTheTerminalSaysHowManyMore() async throws {
        _ = try await screen.take(Self.snapshot((1...9).map { entryJSON($0) }))
        let lines = await screen.lines(Self.terminal(height: 7), now: Self.now)
        #expect(lines.count == 6)
        #expect(lines.last == "… and 5 more")
        let all = await screen.lines(Self.terminal(height: 24), now: Self.now)
        #expect(all.count == 10)
        let limited = PendingScreen(host: nil, states: nil, limit: 2)
        _ = try await limited.take(Self.snapshot((1...9).map { entryJSON($0) }))
        #expect(await limited.lines(Self.terminal(height: 24), now: Self.now).last == "… and 7 more")
    }

    @Test func eightyColumnsShowTheURLAndTheFailure() async throws {
        _ = try await screen.take(Self.snapshot([entryJSON(1)]))
        let lines = await screen.lines(Self.terminal(width: 80), now: Self.now)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines[1].contains("POST") && lines[1].contains("http://shop.example/ord") && lines[1].contains("connection_"))
    }

    @Test func agesGoOnWithoutEvents() async throws {
        _ = try await screen.take(Self.snapshot([entryJSON(1)]))
        #expect(await screen.lines(.plain, now: Self.now)[1].contains("100s"))
        #expect(await screen.lines(.plain, now: Self.now + 7)[1].contains("107s"))
    }

    @Test func lossOfTheConnectionIsShownUntilTheProxyIsBack() async throws {
        _ = try await screen.take(Self.snapshot([entryJSON(1), entryJSON(2)]))
        #expect(await screen.connectionLost("the proxy closed the event stream"))
        #expect(await !screen.connectionLost("the proxy closed the event stream"))
        #expect(await screen.lines(.plain, now: Self.now).last == "the proxy closed the event stream; trying again")
        let told = try await screen.take(Self.snapshot([entryJSON(1), entryJSON(2, revision: 2)]))
        #expect(told.count == 1 && told[0].hasPrefix("200000000000 parked"), "only what changed meanwhile")
        #expect(await screen.lines(.plain, now: Self.now).count == 3)
    }
}
