import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// People hear of trouble without looking: a webhook and a command, by the real binary.
    @Suite(.timeLimit(.minutes(2)))
    struct NotificationTests {
        private static func configuration(port: Int, _ rest: String = "") -> String {
            """
            {"notify": {"webhook": "http://127.0.0.1:\(port)/hook/hush?x=1", "secret": "whsec_\(RunningReceiver.secret)", "interval": "1s"\(rest)},
             "limits": {"heldClients": 1},
             "policies": {"default": {"delay": {"type": "constant", "every": "1h", "jitter": "none"}}}}
            """
        }

        @Test func webhookAndCommandAreToldOfOutagesAndLimits() async throws {
            let receiver = try await RunningReceiver.start()
            let folder = try TemporaryFolder()
            let told = folder.file("told").path
            // The second argument must reach it as it is.
            let command = #", "command": ["/bin/sh", "-c", "cat >> $0; echo \" $1\" >> $0", "\#(told)", "a b;c"]"#
            let layover = try await RunningLayover.start(Self.configuration(port: receiver.port, command))
            let closed = try ReservedPort()
            let waits = try layover.curl("http://127.0.0.1:\(closed.number)/1").start()
            let opened = try await receiver.waitForEvent("an outage is told") { $0.type == "incident.opened" }
            #expect(opened.isSigned && opened.target == "/hook/hush?x=1")
            #expect(opened.body.text == "Requests to http://127.0.0.1:\(closed.number) wait: connection_refused while connecting.")

            let refused = try await layover.curl("-w", "%{http_code}", "http://127.0.0.1:\(closed.number)/2").run()
            #expect(refused.output.hasSuffix("503"))
            let limit = try await receiver.waitForEvent("a limit is told") { $0.limit?.name == "limits.heldClients" }
            #expect(limit.isSigned && limit.id != opened.id)

            try await layover.command("cancel", "--all").succeed()
            let over = try await receiver.waitForEvent("its end is told") { $0.type == "incident.closed" }
            #expect(over.body.all.first { $0.type == "incident.closed" }?.incident?.id == opened.body.incident?.id)
            _ = await waits.result()
            _ = try await FolderWatch(folder.url).first("the command is told the same") {
                let text = (try? String(contentsOfFile: told, encoding: .utf8)) ?? ""
                let types = ["incident.opened", "limit.reached", "incident.closed"]
                return types.allSatisfy { text.contains(#""type":"\#($0)""#) } && text.hasSuffix("} a b;c\n") ? true : nil
            }
            let events = receiver.records.flatMap(\.body.all)
            #expect(events.count == 3, "each is told once: \(events.map(\.text))")
        }

        @Test func notificationOutlivesTheProcessAndWaitsForItsReceiver() async throws {
            let port = try ReservedPort()
            let layover = try await RunningLayover.start(Self.configuration(port: port.number))
            let closed = try ReservedPort()
            let waits = try layover.curl("http://127.0.0.1:\(closed.number)/").start()
            let waiting = try await layover.waitForPending("the notification waits") { $0.data.contains { $0.method == "POST" } }
            let entry = try #require(waiting.data.first { $0.method == "POST" })
            #expect(entry.url == "http://127.0.0.1:\(port.number)", "the path is a secret")
            await layover.kill()
            _ = await waits.result()
            for case let file as URL in try #require(
                FileManager.default.enumerator(at: layover.folder.url, includingPropertiesForKeys: nil))
            where file.lastPathComponent != "config.json" {
                let bytes = try? Data(contentsOf: file)
                #expect(bytes?.range(of: Data("hush".utf8)) == nil, "\(file.lastPathComponent)")
            }

            let again = try await RunningLayover.start(in: layover.folder)
            let receiver = try await RunningReceiver.start(port: port)
            // The ticket may have been sent already, with the canary: then no request matches.
            _ = try await again.command("retry", "--all").run()
            let record = try await receiver.waitForEvent("it arrives") { $0.type == "incident.opened" }
            #expect(record.isSigned && record.target == "/hook/hush?x=1", "signed at the time of its attempt")
            try await again.waitForPending("nothing is left") { $0.data.isEmpty }
            #expect(receiver.records.count == 1)
        }

        /// Bytes of bodies that count for `limits.spoolTotal`.
        private func spoolUse(_ layover: RunningLayover) async throws -> Int {
            struct Status: Decodable {
                struct Limit: Decodable { var used: Int? }
                var limits: [String: Limit]
            }
            let status = try JSONDecoder().decode(Status.self, from: try await layover.call("GET", "/v1/status").body)
            return try #require(status.limits["spoolTotal"]?.used)
        }

        /// Bodies are removed by another thread, after the commit.
        private func expectNoSpoolUse(_ layover: RunningLayover) async throws {
            let deadline = ContinuousClock.now + .seconds(20)
            var used = try await spoolUse(layover)
            while used > 0, ContinuousClock.now < deadline { used = try await spoolUse(layover) }
            #expect(used == 0)
        }

        @Test func bodiesOfNotificationsAreCountedOnceAndGivenBack() async throws {
            let port = try ReservedPort()
            let layover = try await RunningLayover.start(Self.configuration(port: port.number))
            #expect(try await spoolUse(layover) == 0)
            let closed = try ReservedPort()
            let waits = try layover.curl("http://127.0.0.1:\(closed.number)/").start()
            let waiting = try await layover.waitForPending("the notification was tried") {
                $0.data.contains { $0.method == "POST" && $0.attempts > 0 && $0.state == "waiting" }
            }
            let entry = try #require(waiting.data.first { $0.method == "POST" })
            let shown = try await layover.call("GET", "/v1/pending/\(entry.id)")
            struct Size: Decodable { var requestBytes: Int }
            let byteCount = try JSONDecoder().decode(Size.self, from: shown.body).requestBytes
            #expect(byteCount > 0)
            #expect(try await spoolUse(layover) == byteCount)
            try await layover.command("retry", entry.id).succeed()
            try await layover.waitForPending("it was tried again") {
                $0.data.contains { $0.id == entry.id && $0.attempts > entry.attempts }
            }
            #expect(try await spoolUse(layover) == byteCount, "an attempt counts nothing")
            await layover.kill()
            _ = await waits.result()

            let again = try await RunningLayover.start(in: layover.folder)
            #expect(try await spoolUse(again) == byteCount, "counted at the start")
            let receiver = try await RunningReceiver.start(port: port)
            _ = try await again.command("retry", "--all").run()
            let first = try await receiver.waitForEvent("it arrives") { $0.type == "incident.opened" }.body.incident?.id
            try await again.waitForPending("nothing is left") { $0.data.isEmpty }
            try await expectNoSpoolUse(again)

            // Made and sent by one process: an opened and a closed incident.
            let later = try again.curl("http://127.0.0.1:\(closed.number)/").start()
            _ = try await receiver.waitForEvent("the second outage is told") { $0.type == "incident.opened" && $0.incident?.id != first }
            try await again.command("cancel", "--all").succeed()
            _ = await later.result()
            _ = try await receiver.waitForEvent("its end is told") { $0.type == "incident.closed" }
            try await again.waitForPending("nothing is left") { $0.data.isEmpty }
            try await expectNoSpoolUse(again)
        }

        /// A request that may have been applied is undecided, and a notification reports it.
        @Test func decisionIsNotified() async throws {
            let receiver = try await RunningReceiver.start()
            let layover = try await RunningLayover.start(Self.configuration(port: receiver.port))
            let origin = try await RunningOrigin.start(in: try TemporaryFolder())
            let sent = try layover.curl(
                "-H", "Prefer: respond-async, wait=0", "-H", "Layover-Policy: ask", "-d", "order=1", "http://127.0.0.1:\(origin.port)/cut"
            ).start()
            let record = try await receiver.waitForEvent("the decision is told") { $0.type == "incident.needsDecision" }
            #expect(record.body.text.hasPrefix("1 request to http://127.0.0.1:\(origin.port) needs a decision"))
            #expect(record.body.incident?.kind == "decision")
            _ = await sent.result()
        }

        /// The receiver and the command of notifications may hang: no request waits for them.
        @Test func hangingReceiverAndCommandHoldUpNobody() async throws {
            let deaf = try DeafOrigin()
            let layover = try await RunningLayover.start(
                Self.configuration(port: deaf.port, #", "command": ["sleep", "100"]"#))
            let origin = try await RunningOrigin.start(in: try TemporaryFolder())
            let closed = try ReservedPort()
            let waits = try layover.curl("http://127.0.0.1:\(closed.number)/").start()
            try await layover.waitForPending("the notification is under way") {
                $0.data.contains { $0.method == "POST" && $0.state == "attempting" }
            }
            try await layover.curl("--fail", "--max-time", "30", "http://127.0.0.1:\(origin.port)/echo").succeed()
            try await layover.command("cancel", "--all").succeed()
            _ = await waits.result()
        }
    }
}
