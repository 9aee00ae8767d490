import Foundation
import Glibc
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The third system of the mission: a change is accepted at once, and the server is told later.
    @Suite struct OfflineFirst {
        private static func policy(_ keys: String) -> String {
            #"{"policies":{"default":{"delay":{"type":"constant","every":"50ms","jitter":"none"}\#(keys)}}}"#
        }

        @Test func s3aAChangeIsAcceptedAtOnceWhileTheServerIsAway() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let answer = try await scene.send("POST", "/echo?card", ["Prefer: respond-async, wait=0"], body: "{}")
            #expect(answer.status == 202)
            #expect(answer.field("Preference-Applied") == "respond-async")
            let ticket = try #require(answer.ticket)
            #expect(answer.field("Location") == "http://127.0.0.1:\(scene.layover.proxyPort)/.layover/tickets/\(ticket)")
            let deferred = try await scene.send("PUT", "/echo?note", ["Layover-Mode: defer"])
            #expect(deferred.status == 202)
            let outbox = try await scene.send("PUT", "/echo?letter", ["Layover-Policy: outbox"])
            #expect(outbox.status == 202)
            // An attempt that began before the origin came would fail after the network has appeared.
            try await scene.layover.waitForPending("all wait") { $0.waitingCount == 3 && $0.data.contains { $0.attempts > 0 } }
            let origin = try await scene.startOrigin()
            try await scene.networkAppears()
            for id in [ticket, try #require(deferred.ticket), try #require(outbox.ticket)] {
                #expect(try await scene.layover.ticket(id, wait: 20).state == "delivered")
                let response = try await scene.layover.ticketResponse(id)
                #expect(response.status == 200)
                #expect(response.text.contains("/echo?"), "the server's own answer")
            }
            #expect(Set(origin.requests) == ["POST /echo?card", "PUT /echo?note", "PUT /echo?letter"])
            #expect(origin.records.count == 3)
        }

        @Test func s3aClientWithAShortWaitGetsAResponseOrATicket() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let response = try await scene.send("POST", "/echo?1", ["Prefer: respond-async, wait=1"])
            #expect(response.status == 202)
            #expect(response.field("Preference-Applied") == "respond-async, wait=1")
            let origin = try await scene.startOrigin()
            try await scene.networkAppears()
            #expect(try await scene.layover.ticket(#require(response.ticket), wait: 20).state == "delivered")
            let quick = try await scene.send("POST", "/echo?2", ["Prefer: respond-async, wait=20"])
            #expect(quick.status == 200)
            #expect(origin.requests == ["POST /echo?1", "POST /echo?2"])
        }

        @Test func s3bUnsentTicketsAndTheirLargeBodiesSurviveAKill() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let picture = String(repeating: "p", count: 500_000)
            let tickets = [
                try await scene.submit("/sink?card"),
                try await scene.submit("/sink?picture", method: "PUT", body: picture),
            ]
            try await scene.waitForBodies(1)
            let again = try await scene.killedAndRestarted()
            let listing = try await again.layover.waitForPending("both wait") { $0.data.count == 2 }
            #expect(try await again.layover.entries(of: tickets) == Set(listing.data.map(\.id)))
            let origin = try await again.startOrigin()
            try await again.networkAppears()
            for ticket in tickets { #expect(try await again.layover.ticket(ticket, wait: 20).state == "delivered") }
            #expect(origin.records.first { $0.target == "/sink?picture" }?.length == 500_000)
            #expect(origin.records.count == 2)
            try await again.waitForBodies(0)
            // Delivered tickets are not delivered again by the next process.
            let third = try await again.killedAndRestarted()
            #expect(try await third.layover.ticketResponse(tickets[1]).status == 200)
            #expect(try await third.layover.call("GET", "/v1/pending").text.contains(#""data":[]"#))
            #expect(origin.records.count == 2)
        }

        @Test func s3bAdoptedRequestIsDeliveredAfterItsClientLeftAndTheProxyWasKilled() async throws {
            let scene = try await Scene(
                #"{"policies":{"default":{"clientGone":"adopt","delay":{"type":"constant","every":"1h","jitter":"none"}}}}"#)
            let client = try scene.layover.curl("--data", "adopted", scene.url("/echo?adopted")).start()
            try await scene.layover.waitForPending("it waits") { $0.waitingCount == 1 }
            client.signal(SIGKILL)
            _ = await client.result()
            let (layover, admin) = (scene.layover, scene.layover.admin)
            try await onOwnThread {
                let deadline = Deadline(in: .seconds(20))
                let events = try admin.events()
                while try !admin.call("GET", "/v1/pending").text.contains(#""connected":false"#) { _ = try events.next(by: deadline) }
            }
            await layover.kill()
            let again = try await scene.restarted()
            let listing = try await again.layover.waitForPending("it waits still") { $0.data.count == 1 }
            let origin = try await again.startOrigin()
            try await again.networkAppears()
            #expect(try await again.layover.ticket(again.layover.ticketID(of: listing.data[0].id), wait: 20).state == "delivered")
            #expect(origin.requests == ["POST /echo?adopted"])
        }

        @Test func s3cTicketsShowWhetherTheyAreSynchronised() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let ticket = try await scene.submit("/echo")
            let listing = try await scene.layover.waitForPending("its first attempt has failed") { $0.data.first?.lastFailure != nil }
            #expect(try await scene.layover.entries(of: [ticket]) == Set(listing.data.map(\.id)))
            #expect(listing.data.first?.id != ticket, "the id of a ticket is its client's secret")
            #expect(listing.counts["waiting"] == 1)
            let waiting = try await scene.layover.ticket(ticket)
            #expect(waiting.state == "waiting")
            #expect(waiting.waitingFor != nil)
            #expect(waiting.response == nil)
            #expect(try await scene.layover.ticketResponse(ticket).status == 409)
            // In between no attempt begins, which a second sign of the origin would interrupt.
            _ = try await scene.layover.call("PUT", "/v1/reachability", json: #"{"mode":"offline"}"#)
            let origin = try await scene.startOrigin()
            _ = try await scene.layover.call("PUT", "/v1/reachability", json: #"{"mode":"auto"}"#)
            let delivered = try await scene.layover.ticket(ticket, wait: 20)
            #expect(origin.requests == ["POST /echo"])
            #expect(delivered.state == "delivered")
            #expect(delivered.response?.status == 200)
            #expect(delivered.attempts == 2)
            #expect(try await scene.layover.call("GET", "/v1/pending").text.contains(#""data":[]"#))
            #expect(try await scene.layover.dropTicket(ticket).status == 204)
            #expect(try await scene.layover.ticketResponse(ticket).status == 410)
        }

        /// No timer: that the way is open again is all it takes.
        @Test func s3dWhenTheNetworkAppearsSynchronisationStarts() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            var tickets: [String] = []
            for number in 1...5 { tickets.append(try await scene.submit("/echo?\(number)")) }
            try await scene.layover.waitForPending("all of them wait") { $0.waitingCount == 5 && $0.data.contains { $0.attempts > 0 } }
            let origin = try await scene.startOrigin()
            try await scene.networkAppears()
            for ticket in tickets { #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered") }
            #expect(origin.records.count == 5, "each once")
        }

        @Test func s3eTicketIsCancelledIfThePreflightSaysItIsObsolete() async throws {
            let scene = try await Scene(
                Self.policy(#","preflight":{"method":"HEAD","dropOn":["404","410"],"askOn":["412"]}"#))
            let gone = try await scene.submit("/cards/gone", method: "PUT", body: "new text")
            let there = try await scene.submit("/cards/there", method: "PUT", body: "new text")
            try scene.root.write("old text", to: "cards/there")
            let origin = try await scene.startOrigin()
            #expect(try await scene.layover.ticket(there, wait: 20).state == "delivered")
            #expect(try await scene.layover.ticket(gone, wait: 20).state == "cancelled")
            #expect(origin.requests.filter { $0.hasSuffix("/gone") } == ["HEAD /cards/gone"], "asked, and not sent")
            #expect(origin.requests.filter { $0.hasSuffix("/there") } == ["HEAD /cards/there", "PUT /cards/there"])
        }

        @Test func s3eTicketIsUndecidedIfThePreflightIsUnclear() async throws {
            let scene = try await Scene(Self.policy(#","preflight":{"method":"HEAD","dropOn":["410"],"askOn":["404"]}"#))
            let ticket = try await scene.submit("/cards/gone", method: "PUT")
            let origin = try await scene.startOrigin()
            let view = try await scene.layover.ticket(ticket, wait: 20)
            #expect(view.state == "undecided")
            #expect(view.why == "rejected")
            #expect(!origin.requests.contains("PUT /cards/gone"))
            #expect(try await scene.command("cancel", ticket).status == 200)
            #expect(try await scene.layover.ticket(ticket).state == "cancelled")
            #expect(!origin.requests.contains("PUT /cards/gone"))
        }

        /// The first and three retries fail; then a person keeps one and deletes the other.
        @Test func s3iFailedTicketIsRetriedAndThenUndecided() async throws {
            let scene = try await Scene(
                #"{"policies":{"ask":{"delay":{"type":"constant","every":"20ms","jitter":"none"}}}}"#)
            let kept = try await scene.submit("/echo?kept", "Layover-Policy: ask")
            let deleted = try await scene.submit("/echo?deleted", "Layover-Policy: ask")
            var attemptCounts: [Int] = []
            for ticket in [kept, deleted] {
                let view = try await scene.layover.ticket(ticket, wait: 20)
                #expect(view.state == "undecided")
                #expect(view.why == "exhausted")
                attemptCounts.append(view.attempts)
            }
            // One has used up its attempts. The other may have come when the way was shut already, so it waited without one.
            #expect(attemptCounts.max() == 4, "\(attemptCounts)")
            let again = try await scene.killedAndRestarted()
            let origin = try await again.startOrigin()
            try await again.networkAppears()
            #expect(try await again.layover.ticket(kept).state == "undecided", "reachability is no person, and neither is a restart")
            #expect(try await again.layover.dropTicket(deleted).status == 204)
            #expect(try await again.command("retry", kept).status == 200)
            #expect(try await again.layover.ticket(kept, wait: 20).state == "delivered")
            #expect(try await again.layover.ticket(deleted).state == "cancelled")
            #expect(origin.requests == ["POST /echo?kept"])
        }

        /// The request may have reached the server: only a person can accept the risk of a second sending.
        @Test func s3iTicketThatMayHaveBeenAppliedIsResentOnlyByForce() async throws {
            let (scene, origin) = try await Scene.withOrigin(RunningLayover.noTimedRetries)
            let ticket = try await scene.submit("/stalled/200000")
            _ = try await origin.waitForRecord("the answer has begun") { $0.event == "stalled" }
            let again = try await scene.killedAndRestarted()
            let view = try await again.layover.ticket(ticket, wait: 20)
            #expect(view.state == "undecided")
            #expect(view.why == "maybeApplied")
            try await again.networkAppears()
            #expect(try await again.command("force", ticket).status >= 400, "not without a word about the risk")
            #expect(origin.records.count { $0.event == "request" } == 1)
            #expect(try await again.command("force", ticket, json: #"{"acknowledge":"duplicate-risk"}"#).status == 200)
            _ = try await origin.waitForRecord("the second sending") { _ in
                origin.records.count { $0.event == "request" } == 2
            }
            #expect(try await again.layover.dropTicket(ticket).status == 204)
        }
    }
}
