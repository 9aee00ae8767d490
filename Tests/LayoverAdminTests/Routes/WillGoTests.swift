import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverAdmin

/// The answer to a retry says when the request is sent.
struct WillGoTests {
    @Test func retryThatIsSentAtOnceSaysNow() async throws {
        let harness = AdminHarness()
        let id = harness.park(1).id
        #expect(try await harness.send("GET", "/v1/pending/\(id)").json["willGo"] == nil)
        let retried = try await harness.post("/v1/pending/\(id)/retry").json
        #expect(retried["state"] as? String == "attempting")
        #expect(retried["willGo"] as? String == "now")
    }

    @Test func retryWhileOfflineWaitsForTheEndOfTheMode() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        let first = try await harness.accept(1, lane: "one")
        _ = try await harness.accept(2, lane: "one")
        let retried = try await harness.post("/v1/pending/\(first)/retry").json
        #expect(retried["state"] as? String == "waiting")
        #expect(retried["willGo"] as? String == "modeEnds")
        let all = try await harness.post("/v1/pending/retry", "{\"all\":true}").json
        #expect(all["willGo"] as? [String: Int] == ["modeEnds": 2])
        let cancelled = try await harness.post("/v1/pending/cancel", "{\"all\":true}").json
        #expect(cancelled["willGo"] == nil)
    }

    @Test func retryBehindOthersNamesTheLane() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        let front = try await harness.accept(1, lane: "one")
        let behind = try await harness.accept(2, lane: "one")
        _ = try await harness.post("/v1/pending/\(front)/hold")
        _ = await harness.engine.setMode(.auto, reason: nil)
        let retried = try await harness.post("/v1/pending/\(behind)/retry").json
        #expect(retried["state"] as? String == "waiting")
        #expect(retried["willGo"] as? String == "laneFree")
        let named = try await harness.post("/v1/pending/retry", "{\"ids\":[\"\(behind)\"]}").json
        #expect(named["willGo"] as? [String: Int] == ["laneFree": 1])
    }

    @Test func retryOfAFullOriginWaitsForItsWindow() async throws {
        let harness = AdminHarness()
        let ids = [harness.park(1).id, harness.park(2).id]
        _ = try await harness.post("/v1/pending/\(ids[0])/retry")
        #expect(try await harness.post("/v1/pending/\(ids[1])/retry").json["willGo"] as? String == "windowOpens")
    }

    @Test func retryBehindAParentNamesNoTime() async throws {
        let harness = AdminHarness(store: MemoryStore(on: MemoryDisk()))
        let parent = try await harness.accept(1)
        let child = try await harness.accept(2, parents: [parent])
        _ = try await harness.post("/v1/pending/\(parent)/hold")
        _ = await harness.engine.setMode(.auto, reason: nil)
        let retried = try await harness.post("/v1/pending/\(child)/retry").json
        #expect(retried["waitingFor"] as? String == "parent" && retried["willGo"] == nil)
        let all = try await harness.post("/v1/pending/retry", "{\"ids\":[\"\(child)\"]}").json
        #expect(all["willGo"] as? [String: Int] == [:])
    }
}
