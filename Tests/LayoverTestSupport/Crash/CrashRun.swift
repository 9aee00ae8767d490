import Foundation
import Glibc

/// Rounds of load that each end with SIGKILL, or SIGTERM without time to finish, at a moment drawn from the seed, on
/// one store and one origin.
package final class CrashRun {
    private static let configuration = """
        {
          "proxy": { "threads": 2 },
          "log": { "level": "warning" },
          "timeouts": { "drain": "1ms" },
          "policies": {
            "default": { "delay": { "type": "constant", "every": "20ms", "jitter": "full" }, "undecidedInLane": "block" },
            "skips": { "undecidedInLane": "skip" }
          }
        }
        """
    private static let clientCount = 4
    /// Requests of a client in a round, if it gets that far.
    private static let requestCount = 10

    private var generator: SeededGenerator
    private let ledger = CrashLedger()
    private let folder: TemporaryFolder
    private let origin: RecordingOrigin
    private let port: ReservedPort
    private var lanes = [[Int: Int]](repeating: [:], count: CrashRun.clientCount)
    private var stoppedRounds: Set<Int> = []
    private var report = CrashReport()

    package init(seed: UInt64) async throws {
        generator = SeededGenerator(seed: seed)
        folder = try TemporaryFolder()
        try folder.write(Self.configuration, to: "config.json")
        port = try ReservedPort()
        origin = try await RecordingOrigin.start(port: port, seed: seed, resets: 3)
    }

    /// - Returns: Counts of the run, and every breach of a promise.
    package func run(rounds: Int) async throws -> CrashReport {
        for round in 1...rounds { try await self.round(round) }
        try origin.comeUp()
        let layover = try await RunningLayover.start(in: folder)
        let person = CrashPerson(layover: layover, ledger: ledger)
        try await person.settleAll()
        var judge = CrashJudge(fates: ledger.fates, events: try origin.events(), stoppedRounds: stoppedRounds)
        try await judge.readTickets(of: layover)
        judge.judge()
        let ending = await layover.stop()
        if ending.status != 0 { judge.breaches.append("SIGTERM: \(ending)") }
        judge.check(try await StoreFacts.read(in: folder))
        report.count(ledger.fates)
        report.stopCount = stoppedRounds.count
        report.arrivalCount = judge.arrivalCount
        report.breaches = judge.breaches
        return report
    }

    // MARK: A round

    private func round(_ round: Int) async throws {
        if Int.random(in: 0..<10, using: &generator) == 0 { try await killWhileStarting() }
        let isDown = Int.random(in: 0..<5, using: &generator) == 0
        if isDown { try origin.goDown() } else { try origin.comeUp() }
        let layover = try await RunningLayover.start(in: folder)
        if Int.random(in: 0..<4, using: &generator) == 0 {
            try await CrashPerson(layover: layover, ledger: ledger).decideOnce()
        }
        let moment = Moment(
            eventCount: Int.random(in: 1...(Self.clientCount * Self.requestCount * 2), using: &generator),
            microseconds: Int.random(in: 0...(round.isMultiple(of: 5) ? 80_000 : 4_000), using: &generator),
            changesOrigin: Int.random(in: 0..<4, using: &generator) == 0, isDown: isDown)
        let clients = clients(of: round, layover)
        let (ledger, origin) = (ledger, origin)
        ledger.begins(clientCount: clients.count)
        async let lanes = Self.run(clients, ledger)
        try await moment.wait(ledger, origin)
        if Int.random(in: 0..<5, using: &generator) == 0 {
            try await stop(layover, in: round)
        } else {
            await layover.kill()
        }
        self.lanes = await lanes
    }

    /// Attempts under way are cut off, because `timeouts.drain` is close to 0.
    private func stop(_ layover: RunningLayover, in round: Int) async throws {
        let ending = await layover.stop()
        if ending.status != 0 { throw ProcessError("SIGTERM under load: \(ending)") }
        stoppedRounds.insert(round)
    }

    /// Kills a start at a moment of its own: nothing is lost by that either.
    private func killWhileStarting() async throws {
        let process = try RunningLayover.launch(in: folder)
        let microseconds = Int.random(in: 0...250_000, using: &generator)
        try await onOwnThread { Moment.pass(microseconds) }
        process.signal(SIGKILL)
        _ = await process.result()
        report.startKillCount += 1
    }

    private func clients(of round: Int, _ layover: RunningLayover) -> [CrashClient] {
        (0..<Self.clientCount).map { number in
            CrashClient(
                number: number, round: round, ports: (layover.proxyPort, port.number), ledger: ledger,
                generator: SeededGenerator(seed: generator.next()), lanes: lanes[number])
        }
    }

    /// - Returns: How the lanes of each client stand.
    private static func run(_ clients: [CrashClient], _ ledger: CrashLedger) async -> [[Int: Int]] {
        await withTaskGroup(of: (Int, [Int: Int]).self) { group in
            for client in clients {
                group.addTask {
                    let lanes = try? await onOwnThread {
                        var client = client
                        defer { ledger.clientEnded() }
                        return client.run(count: requestCount)
                    }
                    return (client.number, lanes ?? [:])
                }
            }
            var all = clients.map(\.lanes)
            for await (number, lanes) in group { all[number] = lanes }
            return all
        }
    }

    /// When a round ends: after so many things that clients did or were told, and a little more.
    private struct Moment: Sendable {
        var eventCount: Int
        var microseconds: Int
        /// True if the origin stops or starts in the middle of the round.
        var changesOrigin: Bool
        var isDown: Bool

        func wait(_ ledger: CrashLedger, _ origin: RecordingOrigin) async throws {
            try await onOwnThread { [self] in
                let deadline = Deadline(in: .seconds(20))
                for number in 0..<eventCount {
                    if changesOrigin, number == eventCount / 2 { try isDown ? origin.comeUp() : origin.goDown() }
                    guard ledger.waitForEvent(by: deadline) else { break }
                }
                Self.pass(microseconds)
            }
        }

        /// The moment is drawn, not waited for: there is no event inside of the proxy that a test could see.
        static func pass(_ microseconds: Int) {
            usleep(UInt32(microseconds))
        }
    }
}
