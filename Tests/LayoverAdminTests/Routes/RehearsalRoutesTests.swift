import LayoverCore
import LayoverEngine
import Testing

@testable import LayoverAdmin

/// `/v1/rehearsals`: outages that are played.
struct RehearsalRoutesTests {
    private let harness = AdminHarness()

    @Test func rehearsalBeginsIsListedAndIsStopped() async throws {
        let begun = try await harness.post(
            "/v1/rehearsals", #"{"host":"API.example.com:8443","fault":"cut","afterBytes":100,"for":"90s"}"#)
        #expect(begun.status == 200)
        #expect(Set(begun.json.keys) == ["id", "host", "fault", "afterBytes", "status", "for", "startedAt", "endsAt"])
        #expect(begun.json["id"] as? String == "1" && begun.json["host"] as? String == "api.example.com:8443")
        #expect(begun.json["fault"] as? String == "cut" && begun.json["afterBytes"] as? Int == 100)
        #expect(begun.text.contains(#""status":null"#) && begun.json["for"] as? String == "90s")
        let second = try await harness.post("/v1/rehearsals", #"{"host":"b.example","fault":"status"}"#)
        #expect(second.json["status"] as? Int == 503 && second.json["for"] as? String == "10m")
        #expect(try await harness.send("GET", "/v1/rehearsals").ids == ["1", "2"])
        #expect(try await harness.send("GET", "/v1/status").json["rehearsals"] as? Int == 2)
        let lines = try await harness.send("GET", "/v1/rehearsals", fields: ["Accept": "application/jsonl"])
        #expect(lines.text.split(separator: "\n").count == 2)
        let stopped = try await harness.send("DELETE", "/v1/rehearsals/1")
        #expect(stopped.status == 200 && stopped.json["id"] as? String == "1")
        #expect(try await harness.send("GET", "/v1/rehearsals").ids == ["2"])
    }

    @Test(arguments: [
        "{}", #"{"host":"a.example"}"#, #"{"fault":"refuse"}"#, #"{"host":"http://a.example/","fault":"refuse"}"#,
        #"{"host":"*.example","fault":"refuse"}"#, #"{"host":"a.example","fault":"explode"}"#, #"{"host":1,"fault":"refuse"}"#,
        #"{"host":"a.example","fault":"refuse","afterBytes":1}"#, #"{"host":"a.example","fault":"hang","status":503}"#,
        #"{"host":"a.example","fault":"cut","afterBytes":-1}"#, #"{"host":"a.example","fault":"cut","afterBytes":1.5}"#,
        #"{"host":"a.example","fault":"slow","afterBytes":0}"#, #"{"host":"a.example","fault":"status","status":199}"#,
        #"{"host":"a.example","fault":"status","status":600}"#, #"{"host":"a.example","fault":"refuse","for":"10"}"#,
        #"{"host":"a.example","fault":"refuse","for":"0s"}"#, #"{"host":"a.example","fault":"refuse","for":"25h"}"#,
        #"{"host":"a.example","fault":"refuse","for":600}"#, #"{"host":"a.example","fault":"refuse","until":"10m"}"#,
        #"{"host":"a.example","fault":"refuse","for":null}"#, "[]",
    ])
    func badOrderIsRefusedAndNothingBegins(body: String) async throws {
        let response = try await harness.post("/v1/rehearsals", body)
        #expect(response.status == 400 && response.json["kind"] as? String == "malformed_body", "\(response.text)")
        #expect(try await harness.send("GET", "/v1/rehearsals").ids.isEmpty)
    }

    @Test func hundredAndFirstIsRefused() async throws {
        for number in 1...100 {
            #expect(try await harness.post("/v1/rehearsals", "{\"host\":\"h\(number).example\",\"fault\":\"hang\"}").status == 200)
        }
        let refused = try await harness.post("/v1/rehearsals", #"{"host":"b.example","fault":"hang"}"#)
        #expect(refused.status == 409 && refused.json["kind"] as? String == "too_many_rehearsals")
        _ = try await harness.send("DELETE", "/v1/rehearsals/7")
        #expect(try await harness.post("/v1/rehearsals", #"{"host":"b.example","fault":"hang"}"#).json["id"] as? String == "101")
    }

    @Test(arguments: ["2", "01", "+1", "-1", "x", "9223372036854775808"])
    func unknownRehearsalIsNotFound(id: String) async throws {
        _ = try await harness.post("/v1/rehearsals", #"{"host":"a.example","fault":"hang"}"#)
        let response = try await harness.send("DELETE", "/v1/rehearsals/\(id)")
        #expect(response.status == 404 && response.json["kind"] as? String == "unknown_rehearsal")
    }

    @Test func foreignPageCannotBeginARehearsal() async throws {
        let fields = ["Origin": "http://evil.example"]
        #expect(try await harness.post("/v1/rehearsals", #"{"host":"a.example","fault":"hang"}"#, fields: fields).status == 403)
        #expect(try await harness.send("POST", "/v1/rehearsals", body: #"{"host":"a.example","fault":"hang"}"#).status == 415)
        #expect(try await harness.send("PUT", "/v1/rehearsals").status == 405)
    }
}
