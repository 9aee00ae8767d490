import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// User 4 tests how an app behaves offline: the real binary, a real client, a real origin that is well all the time.
    @Suite struct Rehearsal {
        private struct Begun: Decodable {
            var id: String
            var host: String
        }

        /// A proxy with an origin behind it that answers.
        private static func stage(_ configuration: String = RunningLayover.quickRetries) async throws -> (scene: Scene, origin: RunningOrigin) {
            let scene = try await Scene(configuration)
            return (scene, try await scene.startOrigin())
        }

        private static func rehearse(_ scene: Scene, _ words: String...) async throws -> String {
            var command = scene.layover.command("rehearse", "127.0.0.1:\(scene.port.number)")
            command.arguments += words + ["--json"]
            return try JSONDecoder().decode(Begun.self, from: Data(try await command.succeed().output.utf8)).id
        }

        private static func stop(_ scene: Scene, _ id: String) async throws {
            try await scene.layover.command("rehearse", "--stop", id).succeed()
        }

        /// Until the log has these words: it is written by a thread of its own.
        private static func waitForLog(of scene: Scene, _ words: String...) async throws {
            let layover = scene.layover
            _ = try await FolderWatch(layover.folder.url).first("\(words)") {
                let log = layover.process.errors
                return words.allSatisfy { log.contains($0) } ? true : nil
            }
        }

        private static let longHold =
            #"{"timeouts":{"connect":"300ms"},"policies":{"default":{"delay":{"type":"constant","every":"100ms","jitter":"none"}},"brief":{"holdMax":"1s"},"statuses":{"retryOn":["connectivity","503"],"budget":null}}}"#

        // MARK: Nothing is sent

        @Test func refusedRequestWaitsAndGoesWhenTheRehearsalIsOver() async throws {
            let (scene, origin) = try await Self.stage()
            let other = try await RunningOrigin.start(in: scene.root)
            let id = try await Self.rehearse(scene, "refuse")
            let waiting = try scene.layover.curl("--data", "order=1", scene.url("/echo")).start()
            let listing = try await scene.layover.waitForPending("the order waits") { $0.waitingCount == 1 && $0.data[0].lastFailure != nil }
            let failure = try #require(listing.data[0].lastFailure)
            #expect(failure.kind == "connection_refused" && failure.phase == "connecting" && failure.evidence == "neverSent")
            #expect(failure.message == "Rehearsal 1: the connection was refused.")
            #expect(try await scene.layover.incidents().count == 1, "the banner shows it as any outage")
            let untouched = try await scene.layover.curl("http://127.0.0.1:\(other.port)/echo").succeed()
            #expect(untouched.output.contains(#""target": "/echo""#), "another host is not affected")
            #expect(try await scene.layover.command("status").succeed().output.contains("rehearsals"))
            let explained = try await scene.layover.command("explain", listing.data[0].id).succeed().output
            #expect(explained.contains("Rehearsal 1: the connection was refused."))
            #expect(origin.records.isEmpty)
            try await Self.stop(scene, id)
            #expect(await waiting.result().output.contains(#""method": "POST""#))
            #expect(origin.records.map(\.method) == ["POST"], "once")
            #expect(try await scene.layover.call("GET", "/v1/rehearsals").text == #"{"data":[],"nextCursor":null}"#)
            try await Self.waitForLog(of: scene, "a rehearsal began", "a rehearsal was stopped")
        }

        @Test func statusIsMadeHereAndRetriedAsARealOne() async throws {
            let (scene, origin) = try await Self.stage(Self.longHold)
            let id = try await Self.rehearse(scene, "status", "--status", "503")
            let made = try await scene.layover.curl("--include", "--data", "order=1", scene.url("/echo")).succeed().output
            #expect(made.contains("503") && made.contains(#"details="rehearsal 1""#) && made.contains("was not asked"))
            let waiting = try scene.layover.curl("--header", "Layover-Policy: statuses", scene.url("/echo")).start()
            let listing = try await scene.layover.waitForPending("it is retried") { $0.data.first?.lastFailure != nil }
            #expect(listing.data[0].lastFailure?.evidence == "answered")
            #expect(listing.data[0].lastFailure?.message == "A rehearsal answered with status 503. Nothing was sent.")
            #expect(origin.records.isEmpty)
            try await Self.stop(scene, id)
            #expect(await waiting.result().output.contains(#""method": "GET""#) && origin.records.count == 1)
        }

        @Test func portalRedirectsPlainRequestsAndBreaksTunnels() async throws {
            let (scene, origin) = try await Self.stage(Self.longHold)
            _ = try await Self.rehearse(scene, "portal")
            let redirected = try await scene.layover.curl("--include", scene.url("/echo")).succeed().output
            #expect(redirected.contains("302") && redirected.contains("Location: http://portal.invalid/login"))
            let tunnel = try await scene.layover.exchange(
                "CONNECT 127.0.0.1:\(scene.port.number) HTTP/1.1\r\nHost: x\r\nLayover-Policy: brief\r\nConnection: close\r\n\r\n")
            #expect(tunnel.status == 504 && tunnel.text.contains("Rehearsal 1: a captive portal broke the connection."))
            #expect(origin.records.isEmpty)
        }

        /// The probe goes to the host like any other attempt.
        @Test func probeSeesThePortal() async throws {
            let (scene, origin) = try await Self.stage()
            let probed = try await Scene(
                #"{"reachability":{"probe":{"url":"http://127.0.0.1:\#(origin.port)/echo","expectStatus":200,"interval":"100ms"}}}"#)
            try await probed.layover.command("rehearse", "127.0.0.1:\(origin.port)", "portal").succeed()
            let admin = probed.layover.admin
            try await onOwnThread {
                let deadline = Deadline(in: .seconds(20))
                let events = try admin.events()
                while try !admin.call("GET", "/v1/reachability").text.contains(#""state":"portal""#) { _ = try events.next(by: deadline) }
            }
            _ = scene
        }

        // MARK: The host is asked

        @Test func cutOffTicketWaitsForAPersonAndIsForced() async throws {
            let (scene, origin) = try await Self.stage()
            let id = try await Self.rehearse(scene, "cut", "--after-bytes", "10")
            try await scene.layover.curl("--header", "Prefer: respond-async, wait=0", "--data", "order=1", scene.url("/echo")).succeed()
            let listing = try await scene.layover.waitForPending("a person has to decide") { $0.data.first?.state == "undecided" }
            #expect(listing.data[0].why == "maybeApplied" && origin.records.count == 1)
            try await Self.stop(scene, id)
            try await scene.layover.command("force", listing.data[0].id, "--acknowledge", "duplicate-risk").succeed()
            try await scene.layover.waitForPending("it is delivered") { $0.data.isEmpty }
            #expect(origin.records.count == 2, "the duplicate that was acknowledged")
        }
    }
}
