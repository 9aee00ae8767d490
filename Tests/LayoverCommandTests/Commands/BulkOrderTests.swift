import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Synchronization
import Testing

@testable import layover

/// Commands for thousands of requests.
struct BulkOrderTests {
    private static var limits: PendingLimits {
        var limits = PendingLimits()
        limits.heldClientCountMax = 10_000
        return limits
    }

    /// - Parameters:
    ///   - gated: The request whose end takes until the gate is open: from 1.
    ///   - gate: The gate.
    private static func parkMany(
        _ count: UInt64, in admin: LiveAdmin, gated: UInt64 = 0, by gate: Signal = Signal()
    ) async -> [EntryID] {
        // Numbers of one length: 1 and 10 would have the same id.
        let ids = (1...count).map { number in
            number == gated ? admin.park(0x10000 + number) { gate.block() } : admin.park(0x10000 + number)
        }
        _ = await admin.engine.counts()
        return ids
    }

    @Test(.liveAdmin(limits: limits)) func moreIDsThanOneCallTakesAreCommandedInParts() async throws {
        let ids = await Self.parkMany(1500, in: admin)
        try await run(["cancel"] + ids.map(\.description) + ["--admin-url", admin.url])
        #expect(await admin.engine.counts().values.allSatisfy { $0 == 0 })
    }

    @Test(.liveAdmin(limits: limits)) func terminalSeesTheProgressAndItIsGoneAtTheEnd() async throws {
        _ = await Self.parkMany(2500, in: admin)
        let result = try await PseudoTerminal.run(["cancel", "--host", "shop.example", "--admin-url", admin.url])
        #expect(result.status == 0 && result.output.contains("\rcancel: done 1000 of 2500\u{1B}[K"), "\(result)")
        #expect(result.output.hasSuffix("\r\u{1B}[K2500 of 2500 done\r\n"), "\(result)")
        #expect(await admin.engine.counts().values.allSatisfy { $0 == 0 })
    }

    @Test(.liveAdmin(limits: limits)) func noProgressWithoutATerminal() async throws {
        _ = await Self.parkMany(1500, in: admin)
        let result = try await Command(RunningLayover.binary, ["cancel", "--all", "--admin-url", admin.url]).run()
        #expect(result.output == "1500 of 1500 done\n" && result.errors == "", "\(result)")
    }

    @Test(.liveAdmin(limits: limits)) func interruptedCommandSaysWhatWasDone() async throws {
        // The second part ends once the command has been interrupted, however late that is.
        let (gate, folder) = (Signal(), try TemporaryFolder())
        let mark = folder.file("interrupted").path
        _ = await Self.parkMany(9000, in: admin, gated: 1500, by: gate)
        async let running = PseudoTerminal.run(
            ["cancel", "--all", "--admin-url", admin.url],
            steps: #"[{"expect":"done 1000 of 9000","signal":2,"touch":"\#(mark)"}]"#)
        _ = try await FolderWatch(folder.url).first("the interruption", within: .seconds(60)) {
            FileManager.default.fileExists(atPath: mark) ? true : nil
        }
        gate.fire()
        let result = try await running
        let found = result.output.firstMatch(of: #/interrupted: cancel was done for ([0-9]+) of 9000, the others are unchanged/#)
        #expect(result.status == 130 && found != nil, "\(result)")
        let left = await admin.engine.counts().values.reduce(0, +)
        #expect(found.flatMap { Int($0.output.1) } == 9000 - left && left > 0, "\(result)")
    }

    @Test(.liveAdmin) func waitingForOutcomesTellsHowManyAreOpen() async throws {
        for number in 1...2 { _ = admin.park(UInt64(number)) }
        let result = try await PseudoTerminal.run(
            ["retry", "--all", "--wait", "--admin-url", admin.url],
            steps: #"[{"expect":"0 delivered, 2 still waiting","signal":2}]"#)
        #expect(result.status == 130, "\(result)")
        #expect(result.output.contains("interrupted: 0 delivered, 2 still waiting; they stay as they are"), "\(result)")
    }

    @Test func lineIsDrawnTenTimesASecondAtMostAndCutToTheTerminal() {
        let written = Mutex<[String]>([])
        let line = ProgressLine(terminal: Terminal(width: 10, hasColor: true, isInteractive: true)) { text in
            written.withLock { $0.append(text) }
        }
        line.clear()
        let start = ContinuousClock.now
        for milliseconds in 0...299 { line.update("done \(milliseconds) of 300", now: start + .milliseconds(milliseconds)) }
        line.clear()
        line.clear()
        #expect(
            written.withLock { $0 } == [
                "\rdone 0 o…\u{1B}[K", "\rdone 100…\u{1B}[K", "\rdone 200…\u{1B}[K", "\r\u{1B}[K",
            ])
        let unseen = ProgressLine(terminal: .plain) { _ in Issue.record("no terminal, no progress") }
        unseen.update("done")
        unseen.clear()
    }
}
