import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The wall clock jumps, in a run and between two runs. Accepted tickets are delivered once, at their time.
    @Suite struct ClockJump {
        /// As the configuration has it by default.
        private static let lifetime: TimeInterval = 24 * 3600
        /// More than passes between two readings of clocks on a busy machine, and while a process ends and another one starts. A jump is an
        /// hour at least.
        private static let latenessMax: TimeInterval = 60

        private func clock(in folder: TemporaryFolder) throws -> FakeClock? {
            let clock = try FakeClock(in: folder)
            if clock == nil { print("SKIPPED: no clock jumps: libfaketime is not installed") }
            return clock
        }

        private func date(_ text: String) throws -> Date {
            let formatter = ISO8601DateFormatter()
            formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
            return try #require(formatter.date(from: text), "\(text)")
        }

        /// The deadline is one lifetime after the acceptance, whatever the clock did in between.
        private func expectSaneDeadline(_ view: ShownTicket) throws {
            let span = try date(view.expiresAt).timeIntervalSince(date(view.createdAt))
            #expect(abs(span - Self.lifetime) < Self.latenessMax, "\(view)")
        }

        @Test(arguments: ["-1h", "+30h"])
        func clockJumpDuringARunNeitherEndsNorDelaysTickets(offset: String) async throws {
            let folder = try TemporaryFolder()
            guard let clock = try clock(in: folder) else { return }
            let scene = try await DurableScene(environment: clock.environment)
            var tickets = [try await scene.accept("before")]
            try clock.set(offset)
            tickets.append(try await scene.accept("after"))
            for ticket in tickets {
                let view = try await scene.layover.ticket(ticket)
                #expect(view.state == "waiting" || view.state == "attempting", "\(view)")
                try expectSaneDeadline(view)
            }
            let origin = try await scene.startOrigin()
            try await scene.expectDelivery(of: tickets)
            for id in ["before", "after"] { #expect(try origin.arrivals(of: id) == 1, "\(id)") }
        }

        /// The machine was not started anew, so the clock since boot says how much time has passed.
        @Test(arguments: ["-1h", "+30h"])
        func clockJumpBetweenTwoRunsOfOneBootChangesNoDeadline(offset: String) async throws {
            let folder = try TemporaryFolder()
            guard let clock = try clock(in: folder) else { return }
            let first = try await DurableScene(environment: clock.environment)
            let ticket = try await first.accept("one")
            let before = try await first.layover.ticket(ticket)
            await first.layover.kill()
            try clock.set(offset)
            let scene = try await first.restarted(environment: clock.environment)
            let after = try await scene.layover.ticket(ticket)
            try expectSaneDeadline(after)
            print("a jump by \(offset) between two runs: createdAt \(before.createdAt), then \(after.createdAt)")
            let origin = try await scene.startOrigin()
            try await scene.expectDelivery(of: [ticket])
            #expect(try origin.arrivals(of: "one") == 1)
        }

        /// Only the wall clock shows how long the machine was off.
        @Test func machineWithItsClockAnHourBackDelivers() async throws {
            let folder = try TemporaryFolder()
            guard let clock = try clock(in: folder) else { return }
            if let refusal = await Self.refusalOfNewBoot(folder) {
                return print("SKIPPED: no other boot: \(refusal)")
            }
            let first = try await DurableScene(environment: clock.environment)
            let ticket = try await first.accept("one")
            let before = try await first.layover.ticket(ticket)
            await first.layover.kill()
            try clock.set("-1h")
            let scene = try await first.restarted(under: Self.newBoot(folder), environment: clock.environment)
            let after = try await scene.layover.ticket(ticket)
            #expect(after.state == "waiting" || after.state == "attempting", "\(after)")
            let shift = try date(after.expiresAt).timeIntervalSince(date(before.expiresAt))
            #expect(abs(shift + 3600) < Self.latenessMax, "it has the time that it had: \(before), then \(after)")
            let origin = try await scene.startOrigin()
            try await scene.expectDelivery(of: [ticket])
            #expect(try origin.arrivals(of: "one") == 1)
        }

        /// A program that is run under this sees the id of another boot.
        private static func newBoot(_ folder: TemporaryFolder) -> [String] {
            let file = folder.file("boot-id")
            try? Data("11111111-2222-4333-8444-555555555555\n".utf8).write(to: file)
            let script = "mount --bind '\(file.path)' /proc/sys/kernel/random/boot_id && exec \"$0\" \"$@\""
            return ["unshare", "--mount", "sh", "-c", script]
        }

        private static func refusalOfNewBoot(_ folder: TemporaryFolder) async -> String? {
            let words = newBoot(folder) + ["true"]
            guard let made = try? await Command(words[0], Array(words.dropFirst())).run() else { return "`unshare` cannot be run" }
            return made.status == 0 ? nil : made.errors
        }
    }
}

/// A wall clock of a process's own, which a test sets: libfaketime, loaded before the C library. The clocks that
/// count from boot go on as they are.
struct FakeClock: Sendable {
    private let library: String
    private let file: URL

    /// Returns nil if the machine has no libfaketime.
    init?(in folder: TemporaryFolder) throws {
        let roots = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        let paths = roots.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
        guard let library = paths.first(where: FileManager.default.fileExists) else { return nil }
        self.library = library
        file = folder.file("wall-clock")
        try set("+0")
    }

    /// - Parameter offset: In the words of faketime(1): `-1h`, `+30h`.
    func set(_ offset: String) throws {
        try Data("\(offset)\n".utf8).write(to: file)
    }

    var environment: [String: String] {
        [
            "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file.path, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }
}
