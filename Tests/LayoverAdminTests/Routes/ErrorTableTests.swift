import LayoverCore
import Testing

@testable import LayoverAdmin

/// One row for everything that the admin API refuses.
struct ErrorTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var says: String
        var method = "POST"
        var path = "/v1/pending/\(known)/retry"
        var host: String? = "localhost"
        var fields: [String: String] = [:]
        var body: String?
        var status: Int
        var kind: String

        var testDescription: String { says }
    }

    static let known = AdminHarness.id(1).description
    static let unknown = AdminHarness.id(99).description
    static let isJSON = ["Content-Type": "application/json"]

    static let rows: [Row] = [
        // Framing of the body
        Row(
            says: "malformed JSON", fields: isJSON, body: "{\"reason\":", status: 400, kind: "malformed_body"),
        Row(says: "a list for an object", fields: isJSON, body: "[]", status: 400, kind: "malformed_body"),
        Row(
            says: "a number for a text", fields: isJSON, body: "{\"reason\":1}", status: 400,
            kind: "malformed_body"),
        Row(
            says: "unknown key", fields: isJSON, body: "{\"raeson\":\"x\"}", status: 400,
            kind: "malformed_body"),
        Row(
            says: "endless reason", fields: isJSON,
            body: "{\"reason\":\"\(String(repeating: "x", count: 501))\"}", status: 400,
            kind: "malformed_body"),
        Row(says: "no content type", body: "{}", status: 415, kind: "unsupported_media_type"),
        Row(
            says: "a form", fields: ["Content-Type": "application/x-www-form-urlencoded"], body: "a=b",
            status: 415, kind: "unsupported_media_type"),
        Row(
            says: "a form without a body", fields: ["Content-Type": "text/plain"], status: 415,
            kind: "unsupported_media_type"),
        Row(
            says: "a body too large", fields: isJSON, body: String(repeating: " ", count: 300_000),
            status: 413, kind: "body_too_large"),
        Row(
            says: "a body said to be too large",
            fields: ["Content-Type": "application/json", "Content-Length": "99999999"], status: 413,
            kind: "body_too_large"),
        // Paths and methods
        Row(says: "unknown path", method: "GET", path: "/v1/nowhere", status: 404, kind: "not_found"),
        Row(says: "unknown file of the dashboard", method: "GET", path: "/dashboard/none.js", status: 404, kind: "not_found"),
        Row(says: "unknown command", path: "/v1/pending/\(known)/pause", status: 404, kind: "not_found"),
        Row(
            says: "force of many", path: "/v1/pending/force", fields: isJSON, body: "{\"all\":true}",
            status: 405, kind: "method_not_allowed"),
        Row(
            says: "GET of a reload that cannot be asked for", method: "GET", path: "/v1/reload", status: 404,
            kind: "not_found"),
        Row(
            says: "a reload that cannot be asked for", path: "/v1/reload", status: 404, kind: "not_found"),
        Row(
            says: "a configuration that is not shown", method: "GET", path: "/v1/config", status: 404,
            kind: "not_found"),
        // Explain
        Row(
            says: "explain of an unknown entry", method: "GET", path: "/v1/pending/\(unknown)/explain",
            status: 404, kind: "unknown_entry"),
        Row(
            says: "explain of what is no id", method: "GET", path: "/v1/pending/nonsense/explain",
            status: 404, kind: "unknown_entry"),
        Row(
            says: "explain with a parameter", method: "GET", path: "/v1/pending/\(known)/explain?deep=1",
            status: 400, kind: "bad_parameter"),
        Row(
            says: "POST of explain", path: "/v1/pending/\(known)/explain", status: 405,
            kind: "method_not_allowed"),
        // Incidents
        Row(
            says: "unknown incident", method: "GET", path: "/v1/incidents/\(unknown)", status: 404,
            kind: "unknown_incident"),
        Row(
            says: "not an incident's id", method: "GET", path: "/v1/incidents/nonsense", status: 404,
            kind: "unknown_incident"),
        Row(
            says: "retry of an unknown incident", path: "/v1/incidents/\(unknown)/retry", status: 404,
            kind: "unknown_incident"),
        Row(
            says: "an entry's id for an incident's", path: "/v1/incidents/\(known)/cancel", status: 404,
            kind: "unknown_incident"),
        Row(
            says: "a malformed command for an incident", path: "/v1/incidents/\(unknown)/cancel",
            fields: isJSON, body: "{", status: 400, kind: "malformed_body"),
        Row(
            says: "a form for an incident", path: "/v1/incidents/\(unknown)/cancel",
            fields: ["Content-Type": "text/plain"], status: 415, kind: "unsupported_media_type"),
        Row(
            says: "hold of an incident", path: "/v1/incidents/\(unknown)/hold", status: 404,
            kind: "not_found"),
        Row(
            says: "GET of a command for an incident", method: "GET", path: "/v1/incidents/\(unknown)/retry",
            status: 405, kind: "method_not_allowed"),
        Row(says: "POST of the incidents", path: "/v1/incidents", status: 405, kind: "method_not_allowed"),
        Row(
            says: "incidents with a parameter", method: "GET", path: "/v1/incidents?limit=1", status: 400,
            kind: "bad_parameter"),
        // Commands that its state does not take
        Row(
            says: "release of what is not held", path: "/v1/pending/\(known)/release", status: 409,
            kind: "conflict"),
        Row(
            says: "force of what was never sent", path: "/v1/pending/\(known)/force", fields: isJSON,
            body: "{\"acknowledge\":\"duplicate-risk\"}", status: 409, kind: "conflict"),
        Row(
            says: "a number as acknowledgement", path: "/v1/pending/\(known)/force", fields: isJSON,
            body: "{\"acknowledge\":1}", status: 400, kind: "malformed_body"),
        Row(
            says: "hold of another revision", path: "/v1/pending/\(known)/hold",
            fields: ["If-Match": "\"77\""], status: 412, kind: "stale"),
        Row(says: "unknown id", path: "/v1/pending/\(unknown)/retry", status: 404, kind: "unknown_entry"),
        Row(says: "not an id", path: "/v1/pending/nonsense/cancel", status: 404, kind: "unknown_entry"),
        Row(
            says: "unknown id asked for", method: "GET", path: "/v1/pending/\(unknown)", status: 404,
            kind: "unknown_entry"),
        Row(says: "GET of a command", method: "GET", status: 405, kind: "method_not_allowed"),
        Row(
            says: "GET of a command for many", method: "GET", path: "/v1/pending/retry", status: 405,
            kind: "method_not_allowed"),
        Row(says: "POST of a list", path: "/v1/pending", status: 405, kind: "method_not_allowed"),
        Row(
            says: "DELETE of an entry", method: "DELETE", path: "/v1/pending/\(known)", status: 405,
            kind: "method_not_allowed"),
        Row(says: "POST of reachability", path: "/v1/reachability", status: 405, kind: "method_not_allowed"),
        Row(
            says: "OPTIONS, as browsers ask before crossing sites", method: "OPTIONS", status: 405,
            kind: "method_not_allowed"),
        // Browsers
        Row(says: "a foreign Host", host: "rebind.example", status: 403, kind: "foreign_host"),
        Row(
            says: "a foreign Host with our port", host: "rebind.example:8081", status: 403,
            kind: "foreign_host"),
        Row(says: "a Host that begins like ours", host: "localhost.rebind.example", status: 403, kind: "foreign_host"),
        Row(says: "a port in other digits", host: "localhost:\u{663}", status: 403, kind: "foreign_host"),
        Row(says: "userinfo before the Host", host: "x@localhost", status: 403, kind: "foreign_host"),
        Row(says: "no Host", host: nil, status: 403, kind: "foreign_host"),
        Row(says: "two Hosts", fields: ["Host": "localhost"], status: 400, kind: "bad_request"),
        Row(
            says: "a foreign Origin", fields: ["Origin": "http://evil.example"], status: 403,
            kind: "foreign_origin"),
        Row(says: "an opaque Origin", fields: ["Origin": "null"], status: 403, kind: "foreign_origin"),
        Row(
            says: "our host on another port as Origin", fields: ["Origin": "http://localhost:9999"],
            status: 403, kind: "foreign_origin"),
        Row(
            says: "a foreign Origin that reads", method: "GET", path: "/v1/pending",
            fields: ["Origin": "http://evil.example"], status: 403, kind: "foreign_origin"),
        Row(
            says: "a page of another site", fields: ["Sec-Fetch-Site": "cross-site"], status: 403,
            kind: "foreign_origin"),
        Row(
            says: "a page of a sister site", fields: ["Sec-Fetch-Site": "same-site"], status: 403,
            kind: "foreign_origin"),
        // States
        Row(says: "another revision", fields: ["If-Match": "\"77\""], status: 412, kind: "stale"),
        Row(says: "a weak revision", fields: ["If-Match": "W/\"1\""], status: 412, kind: "stale"),
        Row(
            says: "a revision of an unknown entry", path: "/v1/pending/\(unknown)/retry",
            fields: ["If-Match": "\"1\""], status: 404, kind: "unknown_entry"),
        // Changes of an entry
        change("nothing", "{}"), change("no body", nil),
        change("a list", "[]"), change("an unknown key", "{\"prioirty\":1}"),
        change("a known key and an unknown one", "{\"priority\":1,\"state\":\"held\"}"),
        change("a priority below zero", "{\"priority\":-1}"),
        change("a priority over seven", "{\"priority\":8}"),
        change("a priority between two", "{\"priority\":1.5}"),
        change("a priority as text", "{\"priority\":\"1\"}"),
        change("no priority", "{\"priority\":null}"), change("no deadline", "{\"expiresAt\":null}"),
        change("no priority but a lane", "{\"priority\":null,\"lane\":\"a\"}"),
        change("no deadline but a lane", "{\"expiresAt\":null,\"lane\":\"a\"}"),
        change("a deadline before 1970", "{\"expiresAt\":\"0001-01-01T00:00:00Z\"}"),
        change("a deadline that is no time", "{\"expiresAt\":\"tomorrow\"}"),
        change("a deadline without an offset", "{\"expiresAt\":\"2026-11-21T03:52:00\"}"),
        change("a deadline as a number", "{\"expiresAt\":1763697120}"),
        change("a lane without a name", "{\"lane\":\"\"}"),
        change("an endless lane", "{\"lane\":\"\(String(repeating: "x", count: 201))\"}"),
        change("a lane that moves the cursor", "{\"lane\":\"a\\u001b[2J\"}"),
        change("a lane as a number", "{\"lane\":1}"),
        Row(
            says: "a change as a form", method: "PATCH", path: "/v1/pending/\(known)",
            fields: ["Content-Type": "text/plain"], body: "{\"priority\":1}", status: 415,
            kind: "unsupported_media_type"),
        Row(
            says: "a change of an unknown entry", method: "PATCH", path: "/v1/pending/\(unknown)", fields: isJSON,
            body: "{\"priority\":1}", status: 404, kind: "unknown_entry"),
        Row(
            says: "a change of what is no id", method: "PATCH", path: "/v1/pending/nonsense", fields: isJSON,
            body: "{\"priority\":1}", status: 404, kind: "unknown_entry"),
        Row(
            says: "a change of another revision", method: "PATCH", path: "/v1/pending/\(known)",
            fields: ["Content-Type": "application/json", "If-Match": "\"77\""], body: "{\"priority\":1}",
            status: 412, kind: "stale"),
        Row(
            says: "a change with a parameter", method: "PATCH", path: "/v1/pending/\(known)?priority=1",
            fields: isJSON, body: "{\"priority\":1}", status: 400, kind: "bad_parameter"),
        Row(
            says: "a change of all", method: "PATCH", path: "/v1/pending", fields: isJSON,
            body: "{\"priority\":1}", status: 405, kind: "method_not_allowed"),
        // Bodies
        Row(
            says: "a body without the token", method: "GET", path: "/v1/pending/\(known)/request-body",
            status: 401, kind: "body_masked"),
        Row(
            says: "a body with any token where there is none", method: "GET",
            path: "/v1/pending/\(known)/request-body", fields: ["Authorization": "Bearer "], status: 401,
            kind: "body_masked"),
        Row(
            says: "POST of a body", path: "/v1/pending/\(known)/request-body", status: 405,
            kind: "method_not_allowed"),
        // Queries
        Row(
            says: "unknown parameter", method: "GET", path: "/v1/pending?stat=waiting", status: 400,
            kind: "bad_parameter"),
        Row(
            says: "a parameter where there are none", method: "GET", path: "/v1/status?a=b", status: 400,
            kind: "bad_parameter"),
        Row(
            says: "a parameter given twice", method: "GET", path: "/v1/pending?host=a&host=b", status: 400,
            kind: "bad_parameter"),
        Row(
            says: "unknown state", method: "GET", path: "/v1/pending?state=waiting,asleep", status: 400,
            kind: "bad_parameter"),
        Row(
            says: "unknown field to sort by", method: "GET", path: "/v1/pending?sort=colour", status: 400,
            kind: "bad_parameter"),
        Row(
            says: "limit zero", method: "GET", path: "/v1/pending?limit=0", status: 400, kind: "bad_parameter"
        ),
        Row(
            says: "limit too high", method: "GET", path: "/v1/pending?limit=1001", status: 400,
            kind: "bad_parameter"),
        Row(
            says: "limit that is no number", method: "GET", path: "/v1/pending?limit=ten", status: 400,
            kind: "bad_parameter"),
        Row(
            says: "a cursor nobody gave", method: "GET", path: "/v1/pending?cursor=abc", status: 400,
            kind: "bad_parameter"),
        Row(
            says: "a cursor of another order", method: "GET",
            path: "/v1/pending?sort=host&cursor=parkedAt.n1.1", status: 400, kind: "bad_parameter"),
        Row(
            says: "broken UTF-8", method: "GET", path: "/v1/pending?q=%FF", status: 400, kind: "bad_parameter"
        ),
        // Commands for many
        Row(
            says: "nothing selected", path: "/v1/pending/cancel", fields: isJSON, body: "{}", status: 400,
            kind: "malformed_body"),
        Row(says: "no body for many", path: "/v1/pending/cancel", status: 400, kind: "malformed_body"),
        Row(
            says: "all: false", path: "/v1/pending/cancel", fields: isJSON, body: "{\"all\":false}",
            status: 400, kind: "malformed_body"),
        Row(
            says: "two selections", path: "/v1/pending/cancel", fields: isJSON,
            body: "{\"all\":true,\"ids\":[]}", status: 400, kind: "malformed_body"),
        Row(
            says: "an empty filter", path: "/v1/pending/cancel", fields: isJSON, body: "{\"filter\":{}}",
            status: 400, kind: "malformed_body"),
        Row(
            says: "a misspelt filter", path: "/v1/pending/cancel", fields: isJSON,
            body: "{\"filter\":{\"hots\":\"x\"}}", status: 400, kind: "malformed_body"),
        Row(
            says: "a filter with an unknown state", path: "/v1/pending/cancel", fields: isJSON,
            body: "{\"filter\":{\"state\":\"asleep\"}}", status: 400, kind: "bad_parameter"),
        Row(
            says: "too many ids", path: "/v1/pending/cancel", fields: isJSON,
            body: "{\"ids\":[\(Array(repeating: "\"a\"", count: 1001).joined(separator: ","))]}", status: 400,
            kind: "malformed_body"),
        // Reachability
        Row(
            says: "unknown mode", method: "PUT", path: "/v1/reachability", fields: isJSON,
            body: "{\"mode\":\"away\"}", status: 400, kind: "malformed_body"),
        Row(
            says: "unknown hint", method: "PUT", path: "/v1/reachability", fields: isJSON,
            body: "{\"hint\":\"x\"}", status: 400, kind: "malformed_body"),
        Row(
            says: "mode and hint", method: "PUT", path: "/v1/reachability", fields: isJSON,
            body: "{\"mode\":\"auto\",\"hint\":\"changed\"}", status: 400, kind: "malformed_body"),
        Row(
            says: "neither mode nor hint", method: "PUT", path: "/v1/reachability", fields: isJSON,
            body: "{}", status: 400, kind: "malformed_body"),
    ]

    private static func change(_ says: String, _ body: String?) -> Row {
        Row(
            says: "a change to \(says)", method: "PATCH", path: "/v1/pending/\(known)", fields: isJSON, body: body,
            status: 400, kind: "malformed_body")
    }

    @Test(arguments: rows)
    func errorIsAProblemAndChangesNothing(row: Row) async throws {
        let harness = AdminHarness()
        let exchange = harness.park(1).exchange
        let response = try await harness.send(
            row.method, row.path, host: row.host, fields: row.fields, body: row.body)

        #expect(response.status == row.status)
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(response.json["type"] as? String == "urn:layover:problem:\(row.kind)")
        #expect(response.json["status"] as? Int == row.status)
        #expect((response.json["title"] as? String)?.isEmpty == false)
        #expect((response.json["detail"] as? String)?.isEmpty == false)
        expectSafetyFields(response)
        #expect(exchange.calls.isEmpty)
        #expect(await harness.engine.counts()[.waiting] == 1)
    }

    @Test func commandForAnEntryThatEndedIsAConflict() async throws {
        let harness = AdminHarness()
        let id = harness.park(1).id
        #expect(try await harness.post("/v1/pending/\(id)/cancel").status == 200)

        let response = try await harness.post("/v1/pending/\(id)/retry")

        #expect(response.status == 409)
        #expect(response.json["type"] as? String == "urn:layover:problem:conflict")
    }

    @Test func retryOfAnAttemptUnderWayIsAConflict() async throws {
        let harness = AdminHarness()
        let id = harness.park(1).id
        #expect(
            try await harness.post("/v1/pending/\(id)/retry").json["state"] as? String == "attempting")

        #expect(try await harness.post("/v1/pending/\(id)/retry").status == 409)
    }

    @Test func wrongMethodNamesTheRightOnes() async throws {
        let harness = AdminHarness()
        #expect(try await harness.send("DELETE", "/v1/reachability")["Allow"] == "GET, HEAD, PUT")
        #expect(try await harness.send("GET", "/v1/pending/cancel")["Allow"] == "POST")
        #expect(try await harness.send("PUT", "/v1/pending/\(Self.known)")["Allow"] == "GET, HEAD, PATCH")
    }

    @Test(
        arguments: [
            (nil, 401), ("Bearer wrong", 401), ("Bearer secre", 401), ("Bearer secret1", 401),
            ("Bearer ", 401),
            ("Basic secret", 401), ("secret", 401), ("Bearer secret", 200), ("bearer  secret", 200),
        ] as [(String?, Int)])
    func missingTokenIsRefused(authorization: String?, status: Int) async throws {
        var options = AdminOptions()
        options.token = "secret"
        let harness = AdminHarness(options: options)
        let fields = authorization.map { ["Authorization": $0] } ?? [:]
        let response = try await harness.send("GET", "/v1/status", fields: fields)

        #expect(response.status == status)
        #expect((response["WWW-Authenticate"] != nil) == (status == 401))
        #expect(try await harness.send("GET", "/livez").status == 200)
        #expect(try await harness.send("GET", "/readyz").status == 200)
        #expect(try await harness.send("GET", "/metrics").status == 401)
        #expect(try await harness.send("GET", "/nowhere").status == 401)
    }

    @Test(arguments: [
        ["Origin": "http://localhost:8081"], ["Origin": "https://localhost:8081"],
        ["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"], [:],
    ])
    func ownPagesAndProgramsAreAllowed(fields: [String: String]) async throws {
        let harness = AdminHarness()
        let response = try await harness.send("GET", "/v1/status", host: "localhost:8081", fields: fields)
        #expect(response.status == 200)
        expectSafetyFields(response)
    }

    @Test(arguments: ["localhost", "LOCALHOST:1", "127.0.0.1:8081", "[::1]", "[::1]:8081"])
    func portsOfAllowedHostsDoNotMatter(host: String) async throws {
        let harness = AdminHarness()
        #expect(try await harness.send("GET", "/livez", host: host).status == 200)
    }
}

/// The fields of every response, of errors too.
func expectSafetyFields(_ response: Answer) {
    #expect(response["X-Content-Type-Options"] == "nosniff")
    #expect(response["Cache-Control"] == "no-store")
    #expect(response["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'")
    #expect(response.fields.allSatisfy { !$0.name.canonicalName.hasPrefix("access-control-") })
}
