import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Output and exit status of the command line, for people and for scripts.
    @Suite struct CommandLineAnswers {
        // MARK: Ids

        @Test func prefixOfAnIDFindsAnEndedRequestAlsoAfterARestart() async throws {
            let (scene, origin) = try await Scene.withOrigin(RunningLayover.noTimedRetries)
            let ticket = try await scene.submit("/echo")
            #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered")
            let id = try await scene.layover.entry(of: ticket)
            for prefix in [id.prefix(12), id.prefix(5)] {
                let shown = try await scene.layover.command("show", String(prefix)).run()
                #expect(shown.status == 0 && shown.output.contains(id), "\(shown)")
            }
            await scene.layover.stop()
            let again = try await scene.restarted()
            for command in ["show", "explain"] {
                let shown = try await again.layover.command(command, String(id.prefix(12))).run()
                #expect(shown.status == 0 && shown.output.contains(id), "\(shown)")
            }
            #expect(origin.records.isEmpty == false)
        }

        // MARK: Explain and lists

        @Test func deliveredRequestShowsItsStatus() async throws {
            let (scene, origin) = try await Scene.withOrigin(RunningLayover.noTimedRetries)
            let ticket = try await scene.submit("/echo")
            #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered")
            let id = try await scene.layover.entry(of: ticket)
            let explained = try await scene.layover.command("explain", id).succeed().output
            #expect(explained.contains("The response (200) arrived"), "\(explained)")
            #expect(!explained.contains("deliver by"), "\(explained)")
            let shown = try await scene.layover.command("show", id).succeed().output
            #expect(shown.contains("delivered, status 200"), "\(shown)")
            let list = try await scene.layover.command("pending", "--state", "delivered").succeed().output
            #expect(list.contains("delivered 200"), "\(list)")
            #expect(origin.records.isEmpty == false)
        }

        @Test func missingTokenValueIsNotAnInternalError() async throws {
            let (scene, origin) = try await Scene.withOrigin(RunningLayover.noTimedRetries)
            let parent = try await scene.submit("/echo")
            #expect(try await scene.layover.ticket(parent, wait: 20).state == "delivered")
            let child = try await scene.submit("/echo?id=~ticket.\(parent).field.x-missing~")
            #expect(try await scene.layover.ticket(child, wait: 20).state == "undecided")
            let id = try await scene.layover.entry(of: child)
            for command in ["show", "explain"] {
                let text = try await scene.layover.command(command, id).succeed().output
                #expect(!text.contains("proxy_internal_error") && !text.contains("resolving"), "\(text)")
                #expect(text.contains("has no field x-missing"), "\(text)")
                if command == "show" { #expect(text.contains("http_request_error before sending"), "\(text)") }
            }
            #expect(origin.records.isEmpty == false)
        }

        // MARK: Commands

        @Test func retryAllSendsWaitingRequests() async throws {
            // Only a person can end the wait after a status before its time.
            let scene = try await Scene(
                #"{"policies":{"default":{"retryOn":["503"],"delay":{"type":"constant","every":"1h","jitter":"none"}}}}"#)
            let origin = try await scene.startOrigin()
            let clients = try (1...3).map { try scene.layover.curl("--fail", scene.url("/busy/1?\($0)")).start() }
            try await scene.layover.waitForPending { $0.waitingCount == 3 }
            let retry = try await scene.layover.command("retry", "--all").run()

            #expect(retry.status == 0, "\(retry)")
            for client in clients {
                let result = await client.result()
                #expect(result.status == 0, "\(result)")
            }
            #expect(origin.records.count == 6)
        }

        @Test func retryWhileOfflineTellsThatTheModeHasToEnd() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            try await scene.layover.command("offline").succeed()
            let tickets = [try await scene.submit("/echo?1"), try await scene.submit("/echo?2")]
            let all = try await scene.layover.command("retry", "--all").run()
            #expect(all.status == 0 && all.output.contains("2 when the mode is no longer offline"), "\(all)")
            #expect(!all.output.contains("done"), "\(all)")
            let id = try await scene.layover.entry(of: tickets[0])
            let json = try await scene.layover.command("retry", id, "--json").succeed().output
            #expect(json.contains(#""willGo":"modeEnds""#), "\(json)")
            let one = try await scene.layover.command("retry", id).succeed().output
            #expect(one.contains("is sent when the mode is no longer offline"), "\(one)")
        }

        @Test(arguments: [["retry", "--host", "typo.example"], ["cancel", "--all"], ["hold", "--host", "typo.example"]])
        func commandThatMatchesNothingExitsWithThree(arguments: [String]) async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            var command = scene.layover.command()
            command.arguments += arguments
            let result = try await command.run()
            #expect(result.status == 3 && result.errors.contains("no request matches"), "\(result)")
        }

        @Test func retryWithWaitExitsWithTheOutcome() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let ticket = try await scene.submit("/echo")
            try await scene.layover.waitForPending { $0.waitingCount == 1 && $0.data[0].attempts > 0 }
            let id = try await scene.layover.entry(of: ticket)
            let given = try scene.layover.command("retry", id, "--wait").start()
            try await scene.layover.waitForPending { $0.data.first?.attempts == 2 }
            try await scene.layover.command("cancel", id).succeed()
            let cancelled = await given.result()
            #expect(cancelled.status == 3 && cancelled.output.contains("cancelled"), "\(cancelled)")

            let origin = try await scene.startOrigin()
            try await scene.layover.command("offline").succeed()
            let other = try await scene.submit("/echo")
            #expect(other != ticket)
            let waiting = try scene.layover.command("retry", "--all", "--wait").start()
            try await scene.layover.waitForPending { $0.data.first?.willGo == "modeEnds" }
            try await scene.layover.command("auto").succeed()
            let delivered = await waiting.result()
            #expect(delivered.status == 0 && delivered.output.contains("delivered"), "\(delivered)")
            #expect(origin.records.isEmpty == false)
        }

        // MARK: Lists

        @Test func listIsSortedAndLimitedAndCountsTheRest() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            try await scene.layover.command("offline").succeed()
            for number in 1...5 { _ = try await scene.submit("/echo?\(number)") }
            let list = try await scene.layover.command("pending", "--sort", "-createdAt", "--limit", "2").succeed().output
            let lines = list.split(separator: "\n")
            #expect(lines.count == 4, "\(list)")
            #expect(lines.last == "… and 3 more", "\(list)")
            #expect(lines[1].contains("/echo?5") && lines[2].contains("/echo?4"), "\(list)")
        }

        @Test func watchOutlivesTheProxy() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            try await scene.layover.command("offline").succeed()
            _ = try await scene.submit("/echo?watched")
            let folder = try TemporaryFolder()
            let watch = try scene.layover.command("pending", "--watch").start(in: folder)
            let files = FolderWatch(folder.file(""))
            _ = try await files.first("the list") { watch.output.contains("/echo?watched") ? true : nil }
            await scene.layover.stop()
            _ = try await files.first("the loss") { watch.errors.contains("trying again") || watch.hasEnded ? true : nil }
            #expect(!watch.hasEnded, "\(watch.errors)")
            watch.signal(SIGKILL)
            _ = await watch.result()
        }

        // MARK: Programs behind the proxy

        @Test(arguments: [["exec", "--", "true"], ["env"]])
        func proxyThatCannotBeReachedIsAnError(arguments: [String]) async throws {
            let scene = try await Scene()
            await scene.layover.stop()
            var command = scene.layover.command()
            command.arguments += arguments
            let result = try await command.run()
            #expect(result.status == 2 && result.output.isEmpty, "\(result)")
        }

        @Test func commandsFindTheProxyByItsPortsFileWhichGoesWithIt() async throws {
            let scene = try await Scene()
            let folder = scene.layover.folder
            let status = Command(RunningLayover.binary, ["status"]).with(["RUNTIME_DIRECTORY": folder.file("").path])
            let result = try await status.run()
            #expect(result.status == 0 && result.output.contains(scene.layover.proxyURL), "\(result)")
            await scene.layover.stop()
            #expect(!FileManager.default.fileExists(atPath: folder.file("ports.json").path))
        }

        @Test func envSetsTheTimeoutsThatExecSets() async throws {
            let scene = try await Scene()
            let text = try await scene.layover.command("env", "--shell", "bash").succeed().output
            #expect(text.contains("export UV_HTTP_TIMEOUT="), "\(text)")
        }
    }
}
