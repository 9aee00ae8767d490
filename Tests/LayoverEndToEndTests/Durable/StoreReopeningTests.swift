import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// A store that cannot be opened at the start, because of its disk, and can be later.
    @Suite struct StoreReopening {
        @Test func readOnlyDiskAtTheStartRefusesOnlyTicketsUntilItIsWritable() async throws {
            if let refusal = SmallDisk.refusal() { return print("SKIPPED: no read-only disk: \(refusal)") }
            let disk = try SmallDisk(byteCount: 4 << 20)
            let first = try await DurableScene(storeIn: disk.path)
            let before = [try await first.accept("small"), try await first.accept("big", bodyByteCount: 200_000)]
            #expect(await first.layover.stop().status == 0)

            try disk.setReadOnly(true)
            let scene = try await first.restarted(storeIn: disk.path)
            try await expectRefusals(scene, reason: "Read-only file system")
            async let held = scene.send("held")
            try await scene.layover.waitForPending { $0.data.map(\.url).contains { $0.hasSuffix("/held") } }

            try disk.setReadOnly(false)
            try await scene.layover.waitForPending("the tickets of before are back") { $0.data.count == 1 + before.count }
            #expect(try await scene.layover.entries(of: before).count == before.count)
            let after = try await scene.accept("after", bodyByteCount: 200_000)
            #expect(try await scene.layover.call("GET", "/v1/status").text.contains(#""condition":"ok""#))
            let origin = try await scene.startOrigin()
            #expect(try await held.status == 200)
            try await scene.expectDelivery(of: before + [after])
            for id in ["small", "big", "held", "after"] { #expect(try origin.arrivals(of: id) == 1, "\(id)") }
            for id in ["defer", "outbox", "async"] { #expect(try origin.arrivals(of: id) == 0, "\(id)") }
            #expect(await scene.layover.stop().status == 0)
        }

        /// There was no store before. The client that waits for a ticket gets the first one.
        @Test func storeOpensOnceTheDiskHasSpace() async throws {
            if let refusal = SmallDisk.refusal() { return print("SKIPPED: no full disk: \(refusal)") }
            let disk = try SmallDisk(byteCount: 4 << 20)
            try disk.fill()
            let scene = try await DurableScene(storeIn: disk.path)
            try await expectRefusals(scene, reason: "full")
            async let response = scene.send("waiting", "Prefer: respond-async, wait=1")
            try await scene.layover.waitForPending { $0.data.map(\.url).contains { $0.hasSuffix("/waiting") } }
            try disk.empty()
            let accepted = try await response
            #expect(accepted.status == 202, "\(accepted.text)")
            let tickets = [try #require(accepted.ticket), try await scene.accept("after")]
            // The next run finds all tickets.
            await scene.layover.kill()
            let next = try await scene.restarted(storeIn: disk.path)
            let origin = try await next.startOrigin()
            try await next.expectDelivery(of: tickets)
            for id in ["waiting", "after"] { #expect(try origin.arrivals(of: id) == 1, "\(id)") }
        }

        /// A ticket of the earlier run has the key, and another one is in the lane.
        @Test func knownKeysAndLanesWaitUntilTheStoreOpens() async throws {
            if let refusal = SmallDisk.refusal() { return print("SKIPPED: no read-only disk: \(refusal)") }
            let disk = try SmallDisk(byteCount: 4 << 20)
            let first = try await DurableScene(storeIn: disk.path)
            let (key, lane) = ("Idempotency-Key: order-1", "Layover-Lane: till")
            let keyed = try #require(try await first.send("keyed", key, "Prefer: respond-async, wait=0").ticket)
            let earlier = try #require(try await first.send("earlier", lane, "Prefer: respond-async, wait=0").ticket)
            #expect(await first.layover.stop().status == 0)

            try disk.setReadOnly(true)
            let scene = try await first.restarted(storeIn: disk.path)
            let origin = try await scene.startOrigin()
            async let repeated = scene.send("keyed", key, "Prefer: respond-async, wait=60")
            async let later = scene.send("later", lane)
            try await scene.layover.waitForPending("the lane is unknown") { $0.data.contains { $0.waitingFor == "lane" } }
            #expect(try await scene.send("plain").status == 200, "others are sent")
            let refused = try await scene.send("keyed", key, "Prefer: respond-async, wait=1")
            #expect(refused.status == 503 && refused.text.contains(#""kind":"store""#), "\(refused.text)")
            for id in ["keyed", "later"] { #expect(try origin.arrivals(of: id) == 0, "\(id)") }

            try disk.setReadOnly(false)
            let response = try await repeated
            #expect(response.status == 202 && response.ticket == keyed, "\(response.text)")
            #expect(try await later.status == 200)
            try await scene.expectDelivery(of: [keyed, earlier])
            for id in ["keyed", "earlier", "later"] { #expect(try origin.arrivals(of: id) == 1, "\(id)") }
            var laned: [String] = []
            for case .head(let id, _) in try origin.events() where id == "earlier" || id == "later" { laned.append(id) }
            #expect(laned == ["earlier", "later"])
            #expect(await scene.layover.stop().status == 0)
        }

        private func expectRefusals(_ scene: DurableScene, reason: String) async throws {
            for (id, field) in [
                ("defer", "Layover-Mode: defer"), ("outbox", "Layover-Policy: outbox"), ("async", "Prefer: respond-async, wait=0"),
            ] {
                let refused = try await scene.send(id, field)
                #expect(refused.status == 507, "\(id): \(refused.text)")
                #expect(refused.text.contains("store.path") && refused.text.contains(reason), "\(refused.text)")
            }
            let status = try await scene.layover.command("status").succeed().output
            #expect(status.contains(reason), "\(status)")
            let metrics = try await scene.layover.call("GET", "/metrics").text
            #expect(metrics.contains(#"layover_store_condition{condition="ok"} 0"#), "\(metrics)")
        }
    }
}
