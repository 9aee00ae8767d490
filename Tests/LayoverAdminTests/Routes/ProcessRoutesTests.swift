import Foundation
import LayoverCore
import LayoverEngine
import Synchronization
import Testing

@testable import LayoverAdmin

struct ProcessRoutesTests {
    private let harness = AdminHarness()

    @Test func statusShowsTheWholeProcess() async throws {
        let metrics = [LoopMetrics(), LoopMetrics()]
        metrics[0].requestCount.increment(by: 3)
        metrics[1].requestCount.increment(by: 4)
        let harness = AdminHarness(sources: { sources in
            sources.metrics = metrics
            sources.proxyURLs = { ["http://127.0.0.1:8080"] }
            sources.limits = { [LimitUse(name: "connections", max: 10, used: 2)] }
        })
        harness.park(1)
        let status = try await harness.send("GET", "/v1/status").json

        #expect(status["version"] as? String == LayoverVersion.current)
        #expect(status["proxy"] as? [String] == ["http://127.0.0.1:8080"])
        #expect(status["draining"] as? Bool == false)
        #expect((status["counts"] as? [String: Int])?["waiting"] == 1)
        #expect(status["shutOrigins"] as? [String] == ["http://shop.example"])
        #expect(status["configurationErrors"] as? [String] == [])
        #expect(status["lastReload"] is NSNull)
        #expect(status["incidents"] as? Int == 1)
        #expect((status["totals"] as? [String: Int])?["incidents"] == 1)
        #expect((status["totals"] as? [String: Int])?["requests"] == 7)
        let limits = status["limits"] as? [String: [String: Any]] ?? [:]
        #expect(limits["connections"]?["used"] as? Int == 2)
        #expect(limits["entries"]?["used"] as? Int == 1)
        #expect((status["reachability"] as? [String: Any])?["mode"] as? String == "auto")
    }

    @Test func readinessEndsWithDraining() async throws {
        let flag = DrainFlag()
        let harness = AdminHarness(sources: { sources in
            sources.isDraining = { flag.isSet }
            sources.drain = { flag.set() }
        })
        #expect(try await harness.send("GET", "/readyz").status == 200)
        #expect(try await harness.post("/v1/drain").status == 200)
        let response = try await harness.send("GET", "/readyz").expectStatus(503)
        #expect(response.json["type"] as? String == "urn:layover:problem:draining")
        #expect(try await harness.send("GET", "/livez").status == 200)
    }

    @Test func offlineIsReady() async throws {
        _ = await harness.engine.setMode(.offline, reason: nil)
        #expect(try await harness.send("GET", "/readyz").status == 200)
    }

    @Test func headIsGetWithoutTheBody() async throws {
        for path in ["/livez", "/v1/status", "/v1/pending", "/v1/events"] {
            let response = try await harness.send("HEAD", path).expectStatus(200)
            #expect(response.text == "")
        }
    }

    @Test func modeAndHintChangeReachability() async throws {
        let fields = ["Content-Type": "application/json"]
        let offline = try await harness.send(
            "PUT", "/v1/reachability", fields: fields, body: "{\"mode\":\"offline\",\"reason\":\"train\"}"
        )
        #expect(offline.status == 200)
        #expect(offline.json["mode"] as? String == "offline")
        #expect(offline.json["state"] as? String == "offline")
        #expect(offline.json["reason"] as? String == "train")
        #expect(offline.json["tunnels"] as? String == "freeze")

        let hinted = try await harness.send(
            "PUT", "/v1/reachability", fields: fields, body: "{\"hint\":\"changed\"}")
        #expect(hinted.status == 200)
        #expect(hinted.json["networkChangedAt"] as? String == "2026-01-01T00:00:05.000Z")
        #expect(try await harness.send("GET", "/v1/reachability").json["mode"] as? String == "offline")
    }

    @Test func offlineSaysWhatHappensToTunnelsAndOtherModesDoNot() async throws {
        let orders: [(body: String, tunnels: String?)] = [
            (#"{"mode":"offline","tunnels":"cut"}"#, "cut"), (#"{"mode":"offline","tunnels":"keep"}"#, "keep"),
            (#"{"mode":"offline"}"#, "freeze"), (#"{"mode":"auto"}"#, nil),
        ]
        for order in orders {
            let response = try await harness.send(
                "PUT", "/v1/reachability", fields: ["Content-Type": "application/json"], body: order.body)
            #expect(response.status == 200 && response.json["tunnels"] as? String == order.tunnels)
        }
    }

    @Test(arguments: [
        #"{"mode":"offline","tunnels":"thaw"}"#, #"{"mode":"offline","tunnels":null}"#, #"{"mode":"online","tunnels":"freeze"}"#,
        #"{"hint":"changed","tunnels":"freeze"}"#,
    ])
    func tunnelsOfAnotherModeOrAnUnknownWordAreRefused(body: String) async throws {
        let response = try await harness.send("PUT", "/v1/reachability", fields: ["Content-Type": "application/json"], body: body)
        #expect(response.status == 400 && response.json["kind"] as? String == "malformed_body")
        #expect(try await harness.send("GET", "/v1/reachability").json["mode"] as? String == "auto")
    }

    @Test func statusCountsOpenAndFrozenTunnelsOfAllLoops() async throws {
        let metrics = [LoopMetrics(), LoopMetrics()]
        metrics[0].openTunnelCount.increment(by: 2)
        metrics[1].openTunnelCount.increment(by: 3)
        metrics[1].frozenTunnelCount.increment()
        let harness = AdminHarness(sources: { $0.metrics = metrics })
        let tunnels = try await harness.send("GET", "/v1/status").json["tunnels"] as? [String: Int]
        #expect(tunnels == ["open": 5, "frozen": 1])
        #expect(try await harness.send("GET", "/metrics").text.contains("\nlayover_frozen_tunnels 1\n"))
    }

    @Test func metricsAreTextWithThePrefixLayover() async throws {
        let metrics = [LoopMetrics(), LoopMetrics()]
        metrics[0].countResponse(status: 204)
        metrics[1].countResponse(status: 200)
        metrics[1].attemptCount.increment(by: 5)
        let harness = AdminHarness(sources: { $0.metrics = metrics })
        harness.park(1)
        let response = try await harness.send("GET", "/metrics")
        let lines = response.text.split(separator: "\n").map(String.init)

        #expect(response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(
            lines.allSatisfy {
                $0.hasPrefix("# HELP layover_") || $0.hasPrefix("# TYPE layover_")
                    || $0.hasPrefix("layover_")
            })
        #expect(!response.text.contains("config_last_reload"))
        for line in [
            "layover_answers_total{class=\"2xx\"} 2", "layover_attempts_total 5",
            "layover_entries{state=\"waiting\"} 1", "layover_entries{state=\"undecided\"} 0",
            "layover_incidents 1", "layover_incidents_opened_total 1", "layover_entries{state=\"held\"} 0",
            "layover_held_clients 1", "layover_shut_gates 1", "layover_entries_parked_total 1",
            "layover_reachability{state=\"unknown\"} 1", "layover_reachability_mode{mode=\"auto\"} 1",
            "layover_limit_max{limit=\"entries\"} 100000",
            "layover_build_info{version=\"\(LayoverVersion.current)\"} 1",
        ] { #expect(lines.contains(line), "missing: \(line)") }
        for name in ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"] {
            let line = lines.first { $0.hasPrefix("layover_\(name) ") }
            #expect(Double(line?.split(separator: " ").last ?? "") ?? 0 > 0, "\(name)")
        }
        let names = lines.filter { $0.hasPrefix("# TYPE") }
        #expect(Set(names).count == names.count)
    }

    @Test func versionAndDocumentAreServed() async throws {
        let version = try await harness.send("GET", "/version").json
        #expect(version["version"] as? String == LayoverVersion.current)
        let document = try await harness.send("GET", "/openapi.yaml")
        #expect(document["Content-Type"] == "application/yaml")
        #expect(document.text.hasPrefix("openapi: 3.1.0\n"))
        #expect(document.text.contains("\n  version: \(LayoverVersion.current)\n"))
    }
}

final class DrainFlag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
