import LayoverCore
import Testing

@testable import LayoverAdmin

/// One row for everything that the admin API refuses.
struct ErrorTableTests {
    private let harness = AdminHarness()

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
        malformed("malformed JSON", "{\"reason\":"),
        malformed("a list for an object", "[]"),
        malformed("a number for a text", "{\"reason\":1}"),
        malformed("unknown key", "{\"raeson\":\"x\"}"),
        malformed("endless reason", "{\"reason\":\"\(String(repeating: "x", count: 501))\"}"),
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
        missing("unknown path", "GET", "/v1/nowhere", "not_found"),
        missing("unknown file of the dashboard", "GET", "/dashboard/none.js", "not_found"),
        missing("unknown command", "POST", "/v1/pending/\(known)/pause", "not_found"),
        Row(
            says: "force of many", path: "/v1/pending/force", fields: isJSON, body: "{\"all\":true}",
            status: 405, kind: "method_not_allowed"),
        missing("GET of a reload that cannot be asked for", "GET", "/v1/reload", "not_found"),
        missing("a reload that cannot be asked for", "POST", "/v1/reload", "not_found"),
        missing("a configuration that is not shown", "GET", "/v1/config", "not_found"),
        // Explain
        missing("explain of an unknown entry", "GET", "/v1/pending/\(unknown)/explain", "unknown_entry"),
        missing("explain of what is no id", "GET", "/v1/pending/nonsense/explain", "unknown_entry"),
        badParameter("explain with a parameter", "/v1/pending/\(known)/explain?deep=1"),
        notAllowed("POST of explain", "POST", "/v1/pending/\(known)/explain"),
        // Incidents
        missing("unknown incident", "GET", "/v1/incidents/\(unknown)", "unknown_incident"),
        missing("not an incident's id", "GET", "/v1/incidents/nonsense", "unknown_incident"),
        missing("retry of an unknown incident", "POST", "/v1/incidents/\(unknown)/retry", "unknown_incident"),
        missing("an entry's id for an incident's", "POST", "/v1/incidents/\(known)/cancel", "unknown_incident"),
        malformed("a malformed command for an incident", "{", at: "/v1/incidents/\(unknown)/cancel"),
        Row(
            says: "a form for an incident", path: "/v1/incidents/\(unknown)/cancel",
            fields: ["Content-Type": "text/plain"], status: 415, kind: "unsupported_media_type"),
        missing("hold of an incident", "POST", "/v1/incidents/\(unknown)/hold", "not_found"),
        notAllowed("GET of a command for an incident", "GET", "/v1/incidents/\(unknown)/retry"),
        notAllowed("POST of the incidents", "POST", "/v1/incidents"),
        badParameter("incidents with a parameter", "/v1/incidents?limit=1"),
        // Commands that its state does not take
        Row(
            says: "release of what is not held", path: "/v1/pending/\(known)/release", status: 409,
            kind: "conflict"),
        Row(
            says: "force of what was never sent", path: "/v1/pending/\(known)/force", fields: isJSON,
            body: "{\"acknowledge\":\"duplicate-risk\"}", status: 409, kind: "conflict"),
        malformed("a number as acknowledgement", "{\"acknowledge\":1}", at: "/v1/pending/\(known)/force"),
        Row(
            says: "hold of another revision", path: "/v1/pending/\(known)/hold",
            fields: ["If-Match": "\"77\""], status: 412, kind: "stale"),
        missing("unknown id", "POST", "/v1/pending/\(unknown)/retry", "unknown_entry"),
        missing("not an id", "POST", "/v1/pending/nonsense/cancel", "unknown_entry"),
        missing("unknown id asked for", "GET", "/v1/pending/\(unknown)", "unknown_entry"),
        notAllowed("GET of a command", "GET", "/v1/pending/\(known)/retry"),
        notAllowed("GET of a command for many", "GET", "/v1/pending/retry"),
        notAllowed("POST of a list", "POST", "/v1/pending"),
        notAllowed("DELETE of an entry", "DELETE", "/v1/pending/\(known)"),
        notAllowed("POST of reachability", "POST", "/v1/reachability"),
        notAllowed("OPTIONS, as browsers ask before crossing sites", "OPTIONS", "/v1/pending/\(known)/retry"),
        // Browsers
        foreignHost("a foreign Host", "rebind.example"),
        foreignHost("a foreign Host with our port", "rebind.example:8081"),
        foreignHost("a Host that begins like ours", "localhost.rebind.example"),
        foreignHost("a port in other digits", "localhost:\u{663}"),
        foreignHost("userinfo before the Host", "x@localhost"),
        foreignHost("no Host", nil),
        Row(says: "two Hosts", fields: ["Host": "localhost"], status: 400, kind: "bad_request"),
        foreignOrigin("a foreign Origin", ["Origin": "http://evil.example"]),
        foreignOrigin("an opaque Origin", ["Origin": "null"]),
        foreignOrigin("our host on another port as Origin", ["Origin": "http://localhost:9999"]),
        Row(
            says: "a foreign Origin that reads", method: "GET", path: "/v1/pending",
            fields: ["Origin": "http://evil.example"], status: 403, kind: "foreign_origin"),
        foreignOrigin("a page of another site", ["Sec-Fetch-Site": "cross-site"]),
        foreignOrigin("a page of a sister site", ["Sec-Fetch-Site": "same-site"]),
        // States
        Row(says: "another revision", fields: ["If-Match": "\"77\""], status: 412, kind: "stale"),
        Row(says: "a weak revision", fields: ["If-Match": "W/\"1\""], status: 412, kind: "stale"),
        Row(
            says: "a revision of an unknown entry", path: "/v1/pending/\(unknown)/retry",
            fields: ["If-Match": "\"1\""], status: 404, kind: "unknown_entry"),
        // Changes of an entry
        change("nothing", "{}"),
        change("no body", nil),
        change("a list", "[]"),
        change("an unknown key", "{\"prioirty\":1}"),
        change("a known key and an unknown one", "{\"priority\":1,\"state\":\"held\"}"),
        change("a priority below zero", "{\"priority\":-1}"),
        change("a priority over seven", "{\"priority\":8}"),
        change("a priority between two", "{\"priority\":1.5}"),
        change("a priority as text", "{\"priority\":\"1\"}"),
        change("no priority", "{\"priority\":null}"),
        change("no deadline", "{\"expiresAt\":null}"),
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
        notAllowed("POST of a body", "POST", "/v1/pending/\(known)/request-body"),
        // Queries
        badParameter("unknown parameter", "/v1/pending?stat=waiting"),
        badParameter("a parameter where there are none", "/v1/status?a=b"),
        badParameter("a parameter given twice", "/v1/pending?host=a&host=b"),
        badParameter("unknown state", "/v1/pending?state=waiting,asleep"),
        badParameter("unknown field to sort by", "/v1/pending?sort=colour"),
        badParameter("limit zero", "/v1/pending?limit=0"),
        badParameter("limit too high", "/v1/pending?limit=1001"),
        badParameter("limit that is no number", "/v1/pending?limit=ten"),
        badParameter("a cursor nobody gave", "/v1/pending?cursor=abc"),
        badParameter("a cursor of another order", "/v1/pending?sort=host&cursor=parkedAt.n1.1"),
        badParameter("broken UTF-8", "/v1/pending?q=%FF"),
        // Commands for many
        malformed("nothing selected", "{}", at: "/v1/pending/cancel"),
        Row(says: "no body for many", path: "/v1/pending/cancel", status: 400, kind: "malformed_body"),
        malformed("all: false", "{\"all\":false}", at: "/v1/pending/cancel"),
        malformed("two selections", "{\"all\":true,\"ids\":[]}", at: "/v1/pending/cancel"),
        malformed("an empty filter", "{\"filter\":{}}", at: "/v1/pending/cancel"),
        malformed("a misspelt filter", "{\"filter\":{\"hots\":\"x\"}}", at: "/v1/pending/cancel"),
        Row(
            says: "a filter with an unknown state", path: "/v1/pending/cancel", fields: isJSON,
            body: "{\"filter\":{\"state\":\"asleep\"}}", status: 400, kind: "bad_parameter"),
        malformed(
            "too many ids", "{\"ids\":[\(Array(repeating: "\"a\"", count: 1001).joined(separator: ","))]}", at: "/v1/pending/cancel"),
        // Reachability
        malformed("unknown mode", "{\"mode\":\"away\"}", method: "PUT", at: "/v1/reachability"),
        malformed("unknown hint", "{\"hint\":\"x\"}", method: "PUT", at: "/v1/reachability"),
        malformed("mode and hint", "{\"mode\":\"auto\",\"hint\":\"changed\"}", method: "PUT", at: "/v1/reachability"),
        malformed("neither mode nor hint", "{}", method: "PUT", at: "/v1/reachability"),
    ]

    private static func malformed(
        _ says: String, _ body: String?, method: String = "POST", at path: String = "/v1/pending/\(known)/retry"
    ) -> Row {
        Row(says: says, method: method, path: path, fields: isJSON, body: body, status: 400, kind: "malformed_body")
    }

    private static func badParameter(_ says: String, _ path: String) -> Row {
        Row(says: says, method: "GET", path: path, status: 400, kind: "bad_parameter")
    }

    private static func missing(_ says: String, _ method: String, _ path: String, _ kind: String) -> Row {
        Row(says: says, method: method, path: path, status: 404, kind: kind)
    }

    private static func notAllowed(_ says: String, _ method: String, _ path: String) -> Row {
        Row(says: says, method: method, path: path, status: 405, kind: "method_not_allowed")
    }

    private static func foreignHost(_ says: String, _ host: String?) -> Row {
        Row(says: says, host: host, status: 403, kind: "foreign_host")
    }

    private static func foreignOrigin(_ says: String, _ fields: [String: String]) -> Row {
        Row(says: says, fields: fields, status: 403, kind: "foreign_origin")
    }

    private static func change(_ says: String, _ body: String?) -> Row {
        malformed("a change to \(says)", body, method: "PATCH", at: "/v1/pending/\(known)")
    }

    @Test(arguments: rows)
    func errorIsAProblemAndChangesNothing(row: Row) async throws {
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

    @Test func retryOfAnAttemptUnderWayIsAConflict() async throws {
        let id = harness.park(1).id
        #expect(
            try await harness.post("/v1/pending/\(id)/retry").json["state"] as? String == "attempting")

        #expect(try await harness.post("/v1/pending/\(id)/retry").status == 409)
    }

    @Test func wrongMethodNamesTheRightOnes() async throws {
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
        let harness = AdminHarness(options: .with { $0.token = "secret" })
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
        let response = try await harness.send("GET", "/v1/status", host: "localhost:8081", fields: fields).expectStatus(200)
        expectSafetyFields(response)
    }

    @Test(arguments: ["localhost", "LOCALHOST:1", "127.0.0.1:8081", "[::1]", "[::1]:8081"])
    func portsOfAllowedHostsDoNotMatter(host: String) async throws {
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
