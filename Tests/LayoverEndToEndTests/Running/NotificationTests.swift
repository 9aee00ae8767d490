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
            for case let file as URL in try #require(FileManager.default.enumerator(at: layover.folder.url, includingPropertiesForKeys: nil))
            where file.lastPathComponent != "config.json" {
                let bytes = try? Data(contentsOf: file)
                #expect(bytes?.range(of: Data("hush".utf8)) == nil, "\(file.lastPathComponent)")
            }

            let again = try await RunningLayover.start(in: layover.folder)
            let receiver = try await RunningReceiver.start(port: port)
            // It may have gone by itself, with the canary: then no request matches.
            _ = try await again.command("retry", "--all").run()
            let record = try await receiver.waitForEvent("it arrives") { $0.type == "incident.opened" }
            #expect(record.isSigned && record.target == "/hook/hush?x=1", "signed at the time of its attempt")
            try await again.waitForPending("nothing is left") { $0.data.isEmpty }
            #expect(receiver.records.count == 1)
        }

        /// A request whose fate is unknown asks, and its order waits.
        @Test func decisionIsTold() async throws {
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

        /// What a notification needs may hang: nobody waits for it.
        @Test func hangingReceiverAndCommandHoldUpNobody() async throws {
            let deaf = try DeafOrigin()
            let layover = try await RunningLayover.start(
                Self.configuration(port: deaf.port, #", "command": ["sleep", "100"]"#))
            let origin = try await RunningOrigin.start(in: try TemporaryFolder())
            let closed = try ReservedPort()
            let waits = try layover.curl("http://127.0.0.1:\(closed.number)/").start()
            try await layover.waitForPending("the notification is under way") { $0.data.contains { $0.method == "POST" && $0.state == "attempting" } }
            try await layover.curl("--fail", "--max-time", "5", "http://127.0.0.1:\(origin.port)/echo").succeed()
            try await layover.command("cancel", "--all").succeed()
            _ = await waits.result()
        }
    }
}
