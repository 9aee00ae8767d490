import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import layover

/// Commands that people use on a terminal, on a real one.
struct TerminalTests {
    private static let home = "\u{1B}[H\u{1B}[J"

    @Test(.liveAdmin) func watchIsDrawnInPlaceAndFollowsTheSizeOfTheTerminal() async throws {
        _ = admin.park(0xa, host: "a-shop-with-a-long-name.example")
        let result = try await PseudoTerminal.run(
            ["pending", "--watch", "--admin-url", admin.url], columns: 100, rows: 10,
            // Frames of the old size may still come, and have a column behind the state. Another frame means that this one is whole.
            steps: #"[{"expect":"a-shop","resize":[40,10]},{"expect":"STATE\r\n"},{"expect":"\u001b[H","signal":2}]"#)
        let frames = result.output.split(separator: Self.home).map { $0.split(separator: "\r\n") }
        #expect(frames.count >= 2, "\(result)")
        #expect(frames.first?.contains { $0.count > 40 } == true, "\(result)")
        let last = frames.last { $0.count >= 2 } ?? []
        let words = last.map { Self.withoutColors(String($0)) }
        #expect(words.first?.contains("STATE") == true && words.allSatisfy { $0.count <= 40 }, "\(words)")
    }

    @Test(.liveAdmin) func countdownGoesOnWithoutEvents() async throws {
        _ = admin.park(0xa)
        // Parked for ten minutes; frames of two different ages.
        let result = try await PseudoTerminal.run(
            ["pending", "--watch", "--admin-url", admin.url], columns: 100,
            steps: #"[{"change":" [0-9]+s ","signal":2}]"#)
        #expect(result.status != 124, "\(result)")
    }

    @Test(.liveAdmin) func decisionsAreMadeOnATerminal() async throws {
        let ids = (1...2).map { admin.parkUndecided($0) }
        let result = try await PseudoTerminal.run(
            ["decide", "--admin-url", admin.url], columns: 200,
            steps:
                #"[{"expect":"end)?","send":"drop\n"},{"expect":"end)?","send":"force\n"},{"expect":"duplicate-risk:","send":"duplicate-risk\n"}]"#
        )
        #expect(result.status == 0 && result.output.contains("1 of 2: ") && result.output.contains("may have processed"), "\(result)")
        #expect(await admin.engine.entry(ids[0])?.state == .cancelled)
        #expect(await admin.engine.entry(ids[1])?.state == .attempting)
    }

    @Test(.liveAdmin) func listEndsWithItsTotalUnlessItIsCut() async throws {
        for number in 1...3 { _ = admin.park(UInt64(number)) }
        _ = admin.parkUndecided(4)
        func lines(_ arguments: String...) async throws -> [Substring] {
            try await Command(RunningLayover.binary, ["pending", "--admin-url", admin.url] + arguments).succeed()
                .output.split(separator: "\n")
        }
        #expect(try await lines().last == "total: 3 waiting, 1 undecided, 0 bytes of bodies")
        #expect(try await lines("--limit", "2").last == "… and 2 more")
        #expect(try await lines("--host", "none.example") == ["no pending requests"])
    }

    /// The message names the next step.
    @Test(
        .liveAdmin,
        arguments: [
            (["show", "ffffffffffffffffffffffffffffffff"], "layover pending"), (["cancel", "--host", "none.example"], "layover pending"),
            (["abort", "ffffffffffffffffffffffffffffffff"], "layover pending"), (["incidents", "retry", "ff"], "layover incidents"),
            (["rehearse", "--stop", "--all"], "layover rehearse HOST"), (["release", "a"], "layover show"),
        ])
    func errorSaysWhatToDoNext(arguments: [String], advice: String) async throws {
        _ = admin.park(0xa)
        let result = try await Command(RunningLayover.binary, arguments + ["--admin-url", admin.url]).run()
        #expect(result.status == 3 && result.errors.contains(advice), "\(result)")
    }

    private static func withoutColors(_ text: String) -> String { text.replacing(#/\u{1B}\[[0-9]*m/#, with: "") }
}
