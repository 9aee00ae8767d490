import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The commands that steer a running proxy, and the admin API that they go through.
    @Suite struct Commands {
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

        @Test func cancelRespondsToTheClientWith503() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let client = try scene.layover.curl("--include", scene.url("/echo")).start()
            let entry = try #require(try await scene.layover.waitForPending { $0.waitingCount == 1 }.data.first)
            let cancel = try await scene.layover.command("cancel", entry.id).run()
            let response = try PlainResponse(Data(await client.result().output.utf8))

            #expect(cancel.status == 0, "\(cancel)")
            #expect(response.status == 503)
            #expect(response.field("Content-Type") == "application/problem+json")
            #expect(response.text.contains("cancelled"))
            #expect(try await scene.layover.waitForPending { $0.data.isEmpty }.data.isEmpty)
        }

        @Test func pendingListsWaitingRequestsAndShowExplainsThem() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let client = try scene.layover.curl(scene.url("/echo?wanted")).start()
            let entry = try #require(try await scene.layover.waitForPending { $0.waitingCount == 1 }.data.first)
            let table = try await scene.layover.command("pending").succeed()
            let lines = try await scene.layover.command("pending", "--json").succeed()
            let shown = try await scene.layover.command("show", entry.id).succeed()

            #expect(table.output.contains("127.0.0.1"))
            #expect(lines.output.contains(entry.id) && lines.output.contains("/echo?wanted"))
            #expect(shown.output.contains(entry.id))
            #expect(entry.lastFailure?.evidence == "neverSent")
            #expect(client.hasEnded == false)
        }

        @Test func eachParkedRequestIsAnEventWithItsID() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let (admin, url) = (scene.layover.admin, scene.url("/echo?event"))
            let client = scene.layover.curl(url)
            let started = try await onOwnThread {
                let events = try admin.events()
                // The stream must be open before the next steps: its first event is the snapshot.
                _ = try events.next("snapshot")
                let running = try client.start()
                _ = try events.next("request.parked", holding: "/echo?event")
                return running
            }
            #expect(started.hasEnded == false)
        }

        @Test func offlineParksWithoutAnAttemptAndAutoDelivers() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let origin = try await scene.startOrigin()
            try await scene.layover.command("offline").succeed()
            let client = try scene.layover.curl("--fail", scene.url("/echo")).start()
            let listing = try await scene.layover.waitForPending { $0.waitingCount == 1 }
            #expect(listing.data.map(\.attempts) == [0])
            #expect(origin.records.isEmpty)

            try await scene.layover.command("auto").succeed()
            let result = await client.result()
            #expect(result.status == 0, "\(result)")
            #expect(origin.records.count == 1)
        }

        @Test func healthcheckDetectsARunningProxy() async throws {
            let scene = try await Scene()
            #expect(try await scene.layover.command("healthcheck").run().status == 0)
            await scene.layover.stop()
            #expect(try await scene.layover.command("healthcheck").run().status == 2)
        }

        @Test func execRunsACommandWithTheProxySet() async throws {
            let scene = try await Scene()
            let origin = try await scene.startOrigin()
            let result = try await scene.layover.command(
                "exec", "--", "curl", "--silent", "--fail", scene.url("/echo")
            ).run()

            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains("Via"))
            #expect(origin.records.count == 1)
        }
    }
}
