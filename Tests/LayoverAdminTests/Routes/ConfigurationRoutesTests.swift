import Foundation
import LayoverCore
import LayoverEngine
import Synchronization
import Testing

@testable import LayoverAdmin

struct ConfigurationRoutesTests {
    @Test func configurationIsShownWithTheValuesAsJSON() async throws {
        let harness = AdminHarness(sources: { sources in
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
        })
        let response = try await harness.send("GET", "/v1/config").expectStatus(200)
        #expect(response.data.map { $0["key"] as? String }.count == 7)
        #expect(response.data[0]["value"] as? String == "info")
        #expect(response.data[0]["source"] as? String == "default")
        #expect(response.data[1]["value"] as? Int == 4)
        #expect(response.data[2]["value"] as? [String] == ["localhost", "[::1]"])
        #expect(response.data[3]["value"] as? String == "***")
        #expect(response.data[4]["value"] is NSNull)
        #expect((response.data[5]["value"] as? [String: Int]) == ["status": 200])
        #expect(response.data[6]["value"] as? String == "no JSON")
        #expect(response.json["nextCursor"] is NSNull)
        #expect(try await harness.send("GET", "/v1/config?a=b").status == 400)
        #expect(try await harness.post("/v1/config").status == 405)
    }

    @Test func successfulReloadListsTheChangedKeys() async throws {
        let count = Mutex(0)
        let harness = AdminHarness(sources: { sources in
            sources.reload = {
                count.withLock { $0 += 1 }
                return ReloadReport(
                    at: Timestamp(nanoseconds: 5_000_000_000), appliedKeys: ["log.level"],
                    restartKeys: ["proxy.listen"])
            }
        })
        let response = try await harness.post("/v1/reload").expectStatus(200)
        #expect(Set(response.json.keys) == ["at", "applied", "needsRestart", "errors"])
        #expect(response.json["applied"] as? [String] == ["log.level"])
        #expect(response.json["needsRestart"] as? [String] == ["proxy.listen"])
        #expect(response.json["errors"] as? [String] == [])
        #expect(try await harness.send("POST", "/v1/reload").status == 200, "it needs no body")
        #expect(count.withLock { $0 } == 2)
        #expect(try await harness.send("GET", "/v1/reload").status == 405)
        #expect(try await harness.post("/v1/reload", "{\"x\":1}").status == 400)
        #expect(try await harness.post("/v1/reload?force=1").status == 400)
        #expect(count.withLock { $0 } == 2)
    }

    @Test func reloadSaysHowManyRequestsHaveYetToFindTheirRoutes() async throws {
        let harness = AdminHarness(sources: { sources in
            sources.reload = { ReloadReport(at: Timestamp(nanoseconds: 0), entriesLeft: 7) }
        })
        #expect(try await harness.post("/v1/reload").json["entriesLeft"] as? Int == 7)
    }

    @Test func badReloadIsAProblemThatListsTheErrors() async throws {
        let harness = AdminHarness(sources: { sources in
            sources.reload = {
                ReloadReport(
                    at: Timestamp(nanoseconds: 0), errors: ["routes.x: unknown key", "log.level: no level"])
            }
        })
        let response = try await harness.post("/v1/reload").expectStatus(422)
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(response.json["type"] as? String == "urn:layover:problem:configuration")
        #expect(response.json["errors"] as? [String] == ["routes.x: unknown key", "log.level: no level"])
        #expect((response.json["detail"] as? String)?.contains("was not applied") == true)
    }

    @Test func statusAndMetricsShowTheLastReload() async throws {
        let harness = AdminHarness()
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
