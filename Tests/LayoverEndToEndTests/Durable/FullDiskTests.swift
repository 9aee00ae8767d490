import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The real binary when the disk of its store is full, or may not be written.
    @Suite struct FullDisk {
        @Test func fullDiskRefusesOnlyTicketsAndRecoversWithoutARestart() async throws {
            if let refusal = SmallDisk.refusal() { return print("SKIPPED: no full disk: \(refusal)") }
            let disk = try SmallDisk(byteCount: 4 << 20)
            let scene = try await DurableScene(storeIn: disk.path)
            var tickets = [try await scene.accept("small"), try await scene.accept("big", bodyByteCount: 200_000)]

            try disk.fill()
            let refused = try await scene.send("refused", "Prefer: respond-async, wait=0")
            #expect(refused.status == 507)
            #expect(refused.text.contains("store.path"), "\(refused.text)")
            #expect(refused.field("Retry-After") != nil)
            let refusedBig = try await scene.send("refused-big", "Prefer: respond-async, wait=0", bodyByteCount: 200_000)
            #expect(refusedBig.status == 507)
            #expect(refusedBig.text.contains("store.spool") && refusedBig.text.contains("No space left on device"), "\(refusedBig.text)")
            // The client keeps waiting, since it cannot get a ticket.
            async let held = scene.send("held")
            try await scene.layover.waitForPending { $0.data.contains { $0.url.hasSuffix("/held") } }
            let origin = try await scene.startOrigin()
            #expect(try await held.status == 200)
            #expect(try await scene.send("plain").status == 200)
            #expect(try origin.arrivals(of: "small") == 0, "nothing is sent of which the store cannot take note")

            try disk.empty()
            tickets.append(try await scene.accept("later", bodyByteCount: 200_000))
            try await scene.expectDelivery(of: tickets)
            for id in ["small", "big", "later", "held", "plain"] { #expect(try origin.arrivals(of: id) == 1, "\(id)") }
            for id in ["refused", "refused-big"] { #expect(try origin.arrivals(of: id) == 0, "\(id)") }
            #expect(await scene.layover.stop().status == 0)
        }

        /// Regression: each ticket was the canary of its origin in turn, and by then the first one was due again, so whoever
        /// waited on a connection was never asked for.
        @Test func heldRequestsPassTicketsWhoseStartCannotBeRecorded() async throws {
            if let refusal = SmallDisk.refusal() { return print("SKIPPED: no full disk: \(refusal)") }
            // Room for what so many tries leave in the store.
            let disk = try SmallDisk(byteCount: 32 << 20)
            let scene = try await DurableScene(storeIn: disk.path)
            var tickets: [String] = []
            // One canary is made every 50 ms, so that they have enough of them for longer than 5 s.
            for number in 1...150 { tickets.append(try await scene.accept("t\(number)")) }
            try disk.fill()
            #expect(try await scene.send("refused", "Prefer: respond-async, wait=0").status == 507)
            async let held = scene.send("held")
            try await scene.layover.waitForPending { $0.counts.values.reduce(0, +) == 151 }
            let began = ContinuousClock.now
            let origin = try await scene.startOrigin()
            #expect(try await held.status == 200)
            let listing = try await scene.layover.waitForPending { _ in true }
            let triedCount = listing.data.count { $0.lastFailure?.kind == "proxy_internal_error" }
            // One more for each pause of the tickets (`Pauses.storePause`), of which a slow machine sees several.
            let pauseCount = Int(began.duration(to: .now) / Duration.seconds(5))
            #expect(triedCount <= 3 + pauseCount, "of each the store would have said the same")
            for number in 1...150 { #expect(try origin.arrivals(of: "t\(number)") == 0) }

            try disk.empty()
            try await scene.expectDelivery(of: tickets)
            for number in 1...150 { #expect(try origin.arrivals(of: "t\(number)") == 1) }
            #expect(await scene.layover.stop().status == 0)
        }

        /// The ticket was accepted while the disk had room. A crash on the full disk does not damage it.
        @Test func acceptedTicketSurvivesACrashOnAFullDisk() async throws {
            if let refusal = SmallDisk.refusal() { return print("SKIPPED: no full disk: \(refusal)") }
            let disk = try SmallDisk(byteCount: 4 << 20)
            let first = try await DurableScene(storeIn: disk.path)
            let tickets = [try await first.accept("small"), try await first.accept("big", bodyByteCount: 200_000)]
            try disk.fill()
            #expect(try await first.send("refused", "Prefer: respond-async, wait=0").status == 507)
            await first.layover.kill()
            try disk.empty()
            let scene = try await first.restarted(storeIn: disk.path)
            let origin = try await scene.startOrigin()
            try await scene.expectDelivery(of: tickets)
            for id in ["small", "big"] { #expect(try origin.arrivals(of: id) == 1, "\(id)") }
            #expect(try origin.arrivals(of: "refused") == 0)
        }
    }
}
