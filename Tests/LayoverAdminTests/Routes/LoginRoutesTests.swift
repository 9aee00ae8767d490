import Foundation
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@testable import LayoverAdmin

/// How browsers get in, and what each role may do.
struct LoginRoutesTests {
    private let harness = AdminHarness(options: Self.options)
    private static let options = AdminOptions.with {
        $0.token = "adm1n"
        $0.viewToken = "l00k"
    }

    private static let admin = ["Authorization": "Bearer adm1n"]
    private static let viewer = ["Authorization": "Bearer l00k"]
    private static let page = ["Accept": "text/html", "Sec-Fetch-Site": "none"]

    private func cookie(of response: Answer) throws -> String {
        let field = try #require(response["Set-Cookie"])
        #expect(field.contains("; HttpOnly; SameSite=Strict; Max-Age=43200"))
        return String(field.prefix { $0 != ";" })
    }

    private func logIn(_ harness: AdminHarness, token: String) async throws -> Answer {
        try await harness.send(
            "POST", "/login",
            fields: ["Content-Type": "application/x-www-form-urlencoded", "Origin": "http://localhost:8081", "Accept": "text/html"],
            body: "to=%2F%3Ftab%3Dheld&token=\(token)")
    }

    @Test func personWithoutATokenIsLedToTheLoginPageAndAProgramGetsA401() async throws {
        let page = try await harness.send("GET", "/?tab=held", fields: Self.page)
        #expect(page.status == 303 && page["Location"] == "/login?to=%2F%3Ftab%3Dheld")
        let login = try await harness.send("GET", "/login?to=%2F%3Ftab%3Dheld", fields: Self.page)
        #expect(login.status == 200 && login.text.contains("value=\"/?tab=held\""))
        #expect(login["Content-Security-Policy"]?.contains("form-action 'self'") == true)
        #expect(try await harness.send("GET", "/").status == 401)
        #expect(try await harness.send("GET", "/v1/status", fields: Self.page).status == 401)
        #expect(try await harness.send("GET", "/dashboard/app.js").status == 401)
        #expect(try await harness.send("GET", "/dashboard/style.css").status == 200)
    }

    @Test func tokenGivesACookieThatIsTheTokenFromThenOn() async throws {
        let id = harness.park(1).id
        let wrong = try await logIn(harness, token: "adm1m")
        #expect(wrong.status == 401 && wrong["Set-Cookie"] == nil && wrong.text.contains("This is not the token."))
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        let ofProgram = try await harness.send("POST", "/login", fields: form, body: "token=adm1m")
        #expect(ofProgram.status == 401 && ofProgram.json["kind"] as? String == "unauthorized")
        let right = try await logIn(harness, token: "adm1n")
        #expect(right.status == 303 && right["Location"] == "/?tab=held")
        let cookie = try cookie(of: right)
        #expect(cookie.hasPrefix("layover-8081="), "cookies ignore ports")
        #expect(try await harness.send("GET", "/", fields: ["Cookie": "other=1; \(cookie)"]).status == 200)
        let held = try await harness.post("/v1/pending/\(id)/hold", fields: ["Cookie": cookie])
        #expect(held.status == 200 && (held.json["lastCommand"] as? [String: Any])?["who"] as? String == "admin")
        // A cookie of another port does not count, and a cookie does not excuse a wrong token.
        #expect(try await harness.send("GET", "/v1/status", host: "localhost:9", fields: ["Cookie": cookie]).status == 401)
        let both = ["Cookie": cookie, "Authorization": "Bearer wrong"]
        #expect(try await harness.send("GET", "/v1/status", fields: both).status == 401)
        // A foreign page cannot use it.
        let foreign = ["Cookie": cookie, "Origin": "http://evil.example"]
        #expect(try await harness.post("/v1/pending/\(id)/cancel", fields: foreign).status == 403)
        let out = try await harness.send("POST", "/logout", fields: ["Cookie": cookie])
        #expect(out.status == 303 && out["Set-Cookie"]?.contains("Max-Age=0") == true)
        #expect(try await harness.send("GET", "/v1/status", fields: ["Cookie": cookie]).status == 401)
    }

    @Test func refusalsOfWrongTokensAreDelayed() async throws {
        let pauses = Mutex<[Duration]>([])
        let harness = AdminHarness(
            options: Self.options, sources: { $0.pause = { pause in pauses.withLock { $0.append(pause) } } }
        )
        for _ in 1...4 { #expect(try await logIn(harness, token: "adm1m").status == 401) }
        #expect(pauses.withLock { $0 } == [.milliseconds(250)])
        // No token is no guess, and the right one waits for nobody.
        #expect(try await harness.send("GET", "/v1/status").status == 401)
        #expect(try await harness.send("GET", "/v1/status", fields: Self.admin).status == 200)
        #expect(try await logIn(harness, token: "adm1n").status == 303)
        #expect(pauses.withLock { $0.count } == 1)
    }

    @Test func guessesThatAreDelayedAreLimited() async throws {
        let gate = AsyncStream<Void>.makeStream()
        let paused = AsyncStream<Void>.makeStream()
        let harness = AdminHarness(
            options: Self.options,
            sources: {
                $0.pause = { _ in
                    paused.continuation.yield()
                    for await _ in gate.stream { return }
                }
            }
        )
        for _ in 1...FailedGuesses.freeCount { #expect(try await logIn(harness, token: "no").status == 401) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...TokenGuesses.delayedPerAddressMax { group.addTask { try await logIn(harness, token: "no").status } }
            var begun = 0
            for await _ in paused.stream {
                begun += 1
                if begun == TokenGuesses.delayedPerAddressMax { break }
            }
            #expect(try await logIn(harness, token: "no").status == 429)
            #expect(try await logIn(harness, token: "adm1n").status == 303)
            gate.continuation.finish()
            for try await status in group { #expect(status == 401) }
        }
    }

    @Test func linkWorksOnceAndWithinAMinute() async throws {
        let clock = FixedClock()
        let harness = AdminHarness(options: Self.options, clock: clock)
        func link(_ fields: [String: String]) async throws -> String {
            let response = try await harness.post("/v1/login-links", fields: fields)
            let url = try #require(response.json["url"] as? String)
            return String(url.dropFirst("http://localhost:8081".count))
        }
        #expect(try await harness.post("/v1/login-links").status == 401)
        let place = try await link(Self.admin)
        let first = try await harness.send("GET", place, fields: Self.page)
        #expect(first.status == 303 && first["Location"] == "/")
        #expect(try await harness.send("GET", "/v1/status", fields: ["Cookie": cookie(of: first)]).status == 200)
        let again = try await harness.send("GET", place, fields: Self.page)
        #expect(again["Set-Cookie"] == nil && again.text.contains("The link was used already"))
        #expect(try await harness.send("GET", "/login?code=0", fields: Self.page)["Set-Cookie"] == nil)
        // A viewer's link lets in a viewer.
        let viewer = try cookie(of: try await harness.send("GET", try await link(Self.viewer), fields: Self.page))
        #expect(try await harness.post("/v1/pending/hold", "{\"all\":true}", fields: ["Cookie": viewer]).status == 403)
    }

    @Test(arguments: ["//evil.example", "https://evil.example", "/\\evil.example", "/?a\r\nSet-Cookie: x=y", "/v1/drain"])
    func loginNeverRedirectsToAnotherSite(place: String) async throws {
        let to = place.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let response = try await harness.send(
            "POST", "/login", fields: ["Content-Type": "application/x-www-form-urlencoded"], body: "token=adm1n&to=\(to)")
        #expect(response.status == 303 && response["Location"] == "/")
    }

    @Test func viewerReadsAllButBodiesAndChangesNothing() async throws {
        var options = Self.options
        options.bodyToken = "b0dy"
        let harness = AdminHarness(options: options, store: MemoryStore(on: MemoryDisk()))
        let id = try await harness.accept(1)
        let entry = try await harness.send("GET", "/v1/pending/\(id)", fields: Self.viewer)
        #expect(entry.status == 200 && entry.json["ticket"] as? String == "***" && entry.json["actions"] as? [String] == [])
        let incidents = try await harness.send("GET", "/v1/incidents", fields: Self.viewer)
        #expect(incidents.data.allSatisfy { $0["actions"] as? [String] == [] })
        for path in ["request-body", "response"] {
            #expect(try await harness.send("GET", "/v1/pending/\(id)/\(path)", fields: Self.viewer).status == 401)
        }
        for (method, path, body) in [
            ("POST", "/v1/pending/\(id)/cancel", "{}"), ("POST", "/v1/pending/retry", "{\"all\":true}"),
            ("PUT", "/v1/reachability", "{\"mode\":\"offline\"}"), ("PATCH", "/v1/pending/\(id)", "{\"priority\":1}"),
            ("POST", "/v1/batch", "{\"requests\":[]}"),
        ] {
            var fields = Self.viewer
            fields["Content-Type"] = "application/json"
            let response = try await harness.send(method, path, fields: fields, body: body)
            #expect(response.status == 403 && response.json["kind"] as? String == "read_only", "\(method) \(path)")
        }
        #expect(try await harness.send("GET", "/dashboard/snapshot", fields: Self.viewer).json["role"] as? String == "viewer")
        // With a token set, the one of the file opens nothing.
        #expect(try await harness.send("GET", "/v1/status", fields: ["Authorization": "Bearer b0dy"]).status == 401)
    }

    @Test func sessionsAndLinksAreBoundedAndEnd() throws {
        let clock = SteppedSessionClock()
        let sessions = BrowserSessions(clock: clock)
        let codes = (0...BrowserSessions.countMax).compactMap { _ -> String? in
            clock.advance(.milliseconds(1))
            return sessions.makeLink(.admin)?.code
        }
        #expect(Set(codes).count == BrowserSessions.countMax + 1)
        #expect(sessions.use(link: codes[0]) == nil, "the oldest made room")
        #expect(sessions.use(link: codes[1]) == .admin)
        clock.advance(.seconds(61))
        #expect(sessions.use(link: codes[2]) == nil)
    }
}

/// A clock that a test moves.
private final class SteppedSessionClock: EngineClock {
    private let time = Mutex(Timestamp(nanoseconds: 0))

    func now() -> Timestamp { time.withLock { $0 } }
    func wallNanoseconds(of timestamp: Timestamp) -> Int64 { timestamp.nanoseconds }
    func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
}
