import Foundation
import LayoverCore
import LayoverEngine
import Synchronization
import Testing

@testable import LayoverAdmin

struct ConfigurationRoutesTests {
    @Test func configurationIsShownWithTheValuesAsJSON() async throws {
        try await AdminHarness.with(sources: { sources in
            sources.configuration = {
                [
                    ConfigurationValue(key: "log.level", value: "\"info\"", source: "default"),
                    ConfigurationValue(key: "proxy.threads", value: "4", source: "config.json"),
                    ConfigurationValue(
                        key: "admin.allowedHosts", value: "[\"localhost\",\"[::1]\"]", source: "default"),
                    ConfigurationValue(key: "admin.token", value: "\"***\"", source: "LAYOVER_ADMIN_TOKEN"),
                    ConfigurationValue(key: "timeouts.idle", value: "null", source: "default"),
                    ConfigurationValue(
                        key: "policies.default.onExhausted", value: "{\"status\":200}", source: "config.json"),
                    ConfigurationValue(key: "broken", value: "no JSON", source: "default"),
                ]
            }
        }) { harness in
            let answer = try await harness.send("GET", "/v1/config")
            #expect(answer.status == 200)
            #expect(answer.data.map { $0["key"] as? String }.count == 7)
            #expect(answer.data[0]["value"] as? String == "info")
            #expect(answer.data[0]["source"] as? String == "default")
            #expect(answer.data[1]["value"] as? Int == 4)
            #expect(answer.data[2]["value"] as? [String] == ["localhost", "[::1]"])
            #expect(answer.data[3]["value"] as? String == "***")
            #expect(answer.data[4]["value"] is NSNull)
            #expect((answer.data[5]["value"] as? [String: Int]) == ["status": 200])
            #expect(answer.data[6]["value"] as? String == "no JSON")
            #expect(answer.json["nextCursor"] is NSNull)
            #expect(try await harness.send("GET", "/v1/config?a=b").status == 400)
            #expect(try await harness.post("/v1/config").status == 405)
        }
    }

    @Test func successfulReloadListsTheChangedKeys() async throws {
        let count = Mutex(0)
        try await AdminHarness.with(sources: { sources in
            sources.reload = {
                count.withLock { $0 += 1 }
                return ReloadReport(
                    at: Timestamp(nanoseconds: 5_000_000_000), appliedKeys: ["log.level"],
                    restartKeys: ["proxy.listen"])
            }
        }) { harness in
            let answer = try await harness.post("/v1/reload")
            #expect(answer.status == 200)
            #expect(Set(answer.json.keys) == ["at", "applied", "needsRestart", "errors"])
            #expect(answer.json["applied"] as? [String] == ["log.level"])
            #expect(answer.json["needsRestart"] as? [String] == ["proxy.listen"])
            #expect(answer.json["errors"] as? [String] == [])
            #expect(try await harness.send("POST", "/v1/reload").status == 200, "it needs no body")
            #expect(count.withLock { $0 } == 2)
            #expect(try await harness.send("GET", "/v1/reload").status == 405)
            #expect(try await harness.post("/v1/reload", "{\"x\":1}").status == 400)
            #expect(try await harness.post("/v1/reload?force=1").status == 400)
            #expect(count.withLock { $0 } == 2)
        }
    }

    @Test func badReloadIsAProblemThatListsTheErrors() async throws {
        try await AdminHarness.with(sources: { sources in
            sources.reload = {
                ReloadReport(
                    at: Timestamp(nanoseconds: 0), errors: ["routes.x: unknown key", "log.level: no level"])
            }
        }) { harness in
            let answer = try await harness.post("/v1/reload")
            #expect(answer.status == 422)
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(answer.json["type"] as? String == "urn:layover:problem:configuration")
            #expect(answer.json["errors"] as? [String] == ["routes.x: unknown key", "log.level: no level"])
            #expect((answer.json["detail"] as? String)?.contains("was not applied") == true)
        }
    }

    @Test func statusAndMetricsShowTheLastReload() async throws {
        try await AdminHarness.with { harness in
            await harness.engine.reloaded(
                ReloadReport(at: Timestamp(nanoseconds: 0), errors: ["routes.x: unknown key"]))
            let bad = try await harness.send("GET", "/v1/status").json
            #expect(bad["configurationErrors"] as? [String] == ["routes.x: unknown key"])
            #expect((bad["lastReload"] as? [String: Any])?["at"] as? String == "2026-01-01T00:00:00.000Z")
            #expect(
                try await harness.send("GET", "/metrics").text.contains(
                    "\nlayover_config_last_reload_successful 0\n"))

            await harness.engine.reloaded(
                ReloadReport(at: Timestamp(nanoseconds: 0), restartKeys: ["proxy.listen"]))
            let good = try await harness.send("GET", "/v1/status").json
            #expect(good["configurationErrors"] as? [String] == [])
            #expect((good["lastReload"] as? [String: Any])?["needsRestart"] as? [String] == ["proxy.listen"])
            #expect(
                try await harness.send("GET", "/metrics").text.contains(
                    "\nlayover_config_last_reload_successful 1\n"))
        }
    }
}
