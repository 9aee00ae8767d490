import Foundation
import LayoverAdmin
import LayoverCore
import LayoverEngine
import Testing

@testable import layover

/// Commands for decisions (hold, release, force, incidents, reload), and their output.
struct DecisionCommandTests {
    @Test(.liveAdmin) func entriesAreHeldAndReleased() async throws {
        let ids = [admin.park(0xa), admin.park(0xb, host: "b.example")]
        try await run(["hold", "a", "b", "--admin-url", admin.url])
        for id in ids { #expect(await admin.engine.entry(id)?.state == .held) }
        try await run(["release", "--host", "b.example", "--admin-url", admin.url])
        #expect(await admin.engine.entry(ids[0])?.state == .held)
        #expect(await admin.engine.entry(ids[1])?.state == .waiting)
    }

    @Test(.liveAdmin) func forceNeedsTheAcknowledgement() async throws {
        let id = admin.parkUndecided(0xa)
        await exits(["force", "a", "--acknowledge", "yes", "--admin-url", admin.url], with: 1)
        #expect(await admin.engine.entry(id)?.state == .undecided)
        try await run(["force", "a", "--acknowledge", "duplicate-risk", "--admin-url", admin.url])
        #expect(await admin.engine.entry(id)?.state == .attempting)
    }

    @Test(.liveAdmin) func requestsAreSettled() async throws {
        let ids = [admin.parkUndecided(0xa), admin.park(0xb)]
        try await run(["settle", "a", "b", "--status", "201", "--note", "in the books", "--admin-url", admin.url])
        for id in ids {
            let entry = try await admin.entry(id)
            #expect(entry.state == "delivered" && entry.settledBy?.note == "in the books")
            let lines = Show.lines(entry, now: Date())
            #expect(lines.contains { $0.hasPrefix("settled by ") && $0.hasSuffix(", status 201") })
        }
        // A refused command does not stop the others.
        let other = admin.park(0xc)
        await exits(["settle", "a", "c", "--admin-url", admin.url], with: 3)
        #expect(await admin.engine.entry(other)?.state == .delivered)
    }

    @Test(.liveAdmin) func incidentsAreListedRetriedAndCancelled() async throws {
        let ids = [admin.park(0xa), admin.park(0xb)]
        let incident = try #require(await admin.engine.incidents().first)
        let document: ListDocument<IncidentDocument> = try await admin.get("/v1/incidents")
        let lines = IncidentTable(incidents: document.data, now: Date()).lines(.plain)
        #expect(lines[0].hasPrefix("ID            KIND    ORIGIN               WAITING"))
        #expect(lines[1].hasPrefix("\(incident.id.description.prefix(12))  outage  http://shop.example        2"))
        #expect(lines[1].hasSuffix("connection_refused while connecting"))
        #expect(IncidentTable(incidents: [], now: Date()).lines(.plain) == ["no open incidents"])
        #expect(
            try Terminal.json(document.data[0]).hasPrefix("{\"actions\":[\"retry\",\"cancel\"],"))

        try await run(["incidents", "retry", incident.id.description, "--json", "--admin-url", admin.url])
        let states = [await admin.engine.entry(ids[0])?.state, await admin.engine.entry(ids[1])?.state]
        #expect(states.contains(.attempting))
        try await run([
            "incidents", "cancel", String(incident.id.description.prefix(6)), "--reason", "enough",
            "--admin-url",
            admin.url,
        ])
        for id in ids { #expect(await admin.engine.entry(id)?.state == .cancelled) }
    }

    @Test(.liveAdmin) func abortNeedsAnAttempt() async throws {
        let id = admin.park(0xa)
        await exits(["abort", "a", "--admin-url", admin.url], with: 3)
        try await run(["retry", "a", "--admin-url", admin.url])
        let entry = try await admin.entry(id)
        #expect(Show.lines(entry, now: Date()).contains { $0.hasPrefix("attempt ") && $0.hasSuffix(", resolving") })
    }

    @Test(.liveAdmin) func lastCommandIsShown() async throws {
        let id = admin.park(0xa)
        try await run(["hold", "a", "--reason", "lunch", "--admin-url", admin.url])
        let lines = Show.lines(try await admin.entry(id), now: Date())
        let line = try #require(lines.firstIndex { $0.hasPrefix("last command") })
        #expect(lines[line].contains("hold by loopback from 127.0.0.1:"))
        #expect(lines[line + 1].trimmingCharacters(in: .whitespaces) == "lunch")
        let timeline = Timeline(document: try await admin.get("/v1/pending/\(id)/explain")).lines
        #expect(timeline.contains { $0.hasPrefix("last command: hold by loopback from 127.0.0.1:") && $0.hasSuffix(": lunch") })
    }

    @Test(.liveAdmin) func explainIsATimeline() async throws {
        let id = admin.parkUndecided(0xa)
        let lines = Timeline(document: try await admin.get("/v1/pending/\(id)/explain")).lines
        #expect(lines.count == 6)
        #expect(lines[0] == id.description)
        #expect(lines[1].hasPrefix("1     20"))
        #expect(
            lines[1].hasSuffix(
                " arrival, 12 ms: connection_terminated while awaitingResponse (maybeApplied)"))
        #expect(
            lines[2] == "      127.0.0.1:40000 to 192.0.2.1:80, new connection, 180 bytes sent, curl 52")
        #expect(lines[3] == "      The connection closed before an answer came.")
        #expect(
            lines[4]
                == "      Undecided: the server may have processed the request, and it is not repeatable."
        )
        #expect(lines[5].hasPrefix("now   The server may have processed the request"))
    }

    @Test(.liveAdmin) func listAndShowNameTheReasonForUndecided() async throws {
        let id = admin.parkUndecided(0xa)
        let list: PendingDocument = try await admin.get("/v1/pending?state=undecided")
        let table = EntryTable(entries: list.data, now: Date()).lines(.plain)
        #expect(table[1].hasPrefix("a00000000000  undecided  maybeApplied"))
        let entry = try await admin.entry(id)
        #expect(Show.lines(entry, now: Date()).contains("state         undecided: maybeApplied"))
        #expect(Show.lines(entry, now: Date()).contains("commands      force cancel settle"))
        let other = try await admin.entry(admin.park(0xb))
        let incident = try #require(other.incident)
        #expect(Show.lines(other, now: Date()).contains("incident      \(incident)"))
    }

    @Test(.liveAdmin) func statusShowsIncidentsAndTheLastReload() async throws {
        let calm = try await admin.status()
        #expect(calm.contains("incidents  none"))
        admin.park(0xa)
        await admin.engine.reloaded(
            ReloadReport(
                at: admin.engine.clock.now(), errors: ["routes.x: unknown key", "log.level: no level"]))
        let lines = try await admin.status()
        #expect(lines.contains("incidents      1 open"))
        #expect(lines.contains("configuration  routes.x: unknown key"))
        #expect(lines.contains("configuration  log.level: no level"))
        await admin.engine.reloaded(
            ReloadReport(at: admin.engine.clock.now(), restartKeys: ["proxy.listen"]))
        #expect(try await admin.status().contains("restart needed  proxy.listen"))
        var status: StatusDocument = try await admin.get("/v1/status")
        status.lastReload?.entriesLeft = 7
        #expect(Status.lines(status, .plain).contains { $0.hasPrefix("reload ") && $0.hasSuffix("  \(Reload.left(7))") })
    }

    // MARK: Configuration

    @Test func reloadOfABadFileExitsWithOne() async throws {
        let report = ReloadReport(at: Timestamp(nanoseconds: 0), errors: ["routes.x: unknown key"])
        try await LiveAdmin.with(sources: { $0.reload = { report } }) { admin in
            await exits(["reload", "--admin-url", admin.url], with: 1)
        }
    }

    @Test(arguments: [
        (
            ReloadReport(at: Timestamp(nanoseconds: 0), appliedKeys: ["log.level"], restartKeys: ["proxy.listen"]),
            ["applied         log.level", "restart needed  proxy.listen"]
        ),
        (
            ReloadReport(at: Timestamp(nanoseconds: 0), appliedKeys: ["routes.a.policy"], entriesLeft: 7),
            [
                "applied        routes.a.policy",
                "still to come  7 requests that wait get their new route and policy later, before their next attempt",
            ]
        ),
        (
            ReloadReport(at: Timestamp(nanoseconds: 0), entriesLeft: 1),
            ["still to come  1 request that waits gets its new route and policy later, before its next attempt"]
        ),
    ])
    func reloadListsTheChangedKeysAndWhatIsStillToCome(report: ReloadReport, lines: [String]) async throws {
        try await LiveAdmin.with(sources: { $0.reload = { report } }) { admin in
            for arguments in [["reload"], ["reload", "--json"]] { try await run(arguments + ["--admin-url", admin.url]) }
            let response = try await admin.client().send(AdminCall("POST", "/v1/reload", body: [String: String]()))
            #expect(try Reload.lines(response.decoded(ReloadDocument.self)) == lines)
        }
    }

    @Test func configurationIsShownAloneOrFromTheRunningProxy() async throws {
        let values = [ConfigurationValue(key: "log.level", value: "\"info\"", source: "config.json")]
        #expect(ShowConfig.lines(values, sources: false) == ["log.level = \"info\""])
        #expect(ShowConfig.lines(values, sources: true) == ["log.level = \"info\" (config.json)"])
        try await run(["config", "show", "--sources"])
        try await run(["config", "show", "--json"])
        await exits(["config", "show", "--config", "/nonexistent.json"], with: 1)
        try await LiveAdmin.with(sources: { $0.configuration = { values } }) { admin in
            try await run(["config", "show", "--running", "--json", "--admin-url", admin.url])
        }
        try await LiveAdmin.with { admin in
            await exits(["config", "show", "--running", "--admin-url", admin.url], with: 3)
        }
    }
}
