import ArgumentParser
import Foundation
import LayoverAdmin
import LayoverCore
import LayoverEngine
import Synchronization
import Testing

@testable import layover

/// Commands against an admin API that listens.
struct CommandTests {
    @Test(.liveAdmin) func retryAndCancelReachTheEntriesNamed() async throws {
        let ids = [admin.park(0xa), admin.park(0xb), admin.park(0xc, host: "b.example")]
        try await run(["retry", "a", "--admin-url", admin.url])
        #expect(await admin.engine.entry(ids[0])?.state == .attempting)
        try await run(["cancel", "--host", "b.example", "--json", "--admin-url", admin.url])
        #expect(await admin.engine.entry(ids[2])?.state == .cancelled)
        #expect(await admin.engine.entry(ids[1])?.state == .waiting)
        try await run(["cancel", "--all", "--reason", "test", "--admin-url", admin.url])
        #expect(await admin.engine.counts().values.allSatisfy { $0 == 0 })
    }

    @Test(.liveAdmin) func refusalsExitWithThree() async throws {
        let id = admin.park(0xa).description
        try await run(["cancel", id, "--admin-url", admin.url])
        let unknown = String(repeating: "f", count: 32)
        for arguments in [
            ["cancel", id], ["retry", unknown], ["show", unknown], ["retry", id, unknown],
            ["show", "ff"], ["explain", unknown], ["hold", id], ["release", unknown],
            ["force", unknown, "--acknowledge", "duplicate-risk"], ["incidents", "retry", unknown],
            ["incidents", "cancel", "ff"], ["reload"], ["drain"],
        ] {
            await exits(arguments + ["--admin-url", admin.url], with: 3)
        }
    }

    @Test(.liveAdmin) func readingCommandsSucceed() async throws {
        let id = admin.park(0xa).description
        for arguments in [
            ["status"], ["status", "--json"], ["pending"],
            ["pending", "--json", "--host", "shop.example"],
            ["pending", "--state", "held"], ["show", id], ["show", "a", "--json"], ["healthcheck"],
            ["explain", id], ["explain", "a", "--json"], ["incidents"], ["incidents", "--json"],
            ["incidents", "list"], ["pending", "--state", "undecided"],
            ["version"], ["completions"], ["completions", "fish"], ["pending", "--lane", "one"],
            ["env", "--shell", "fish"], ["env", "--unset"],
        ] {
            let isAlone = ["version", "completions"].contains(arguments[0])
            try await run(arguments + (isAlone ? [] : ["--admin-url", admin.url]))
        }
    }

    @Test(.liveAdmin) func modesAreSet() async throws {
        for mode in ["offline", "online", "auto"] {
            try await run([mode, "--reason", "because", "--admin-url", admin.url])
            #expect(await admin.engine.reachabilityView().mode.rawValue == mode)
            #expect(await admin.engine.reachabilityView().reason == "because")
        }
    }

    @Test(arguments: [
        "status", "pending", "pending --watch", "show a", "cancel --all", "auto", "healthcheck", "hold --all", "release a",
        "force a --acknowledge duplicate-risk", "explain a", "incidents", "incidents retry a", "reload", "config show --running", "drain",
        "env",
    ])
    func closedPortExitsWithTwo(line: String) async throws {
        // Port 1 (tcpmux) needs root to listen and has no server on any system of today.
        await exits(line.split(separator: " ").map(String.init) + ["--admin-url", "http://127.0.0.1:1"], with: 2)
    }

    @Test(.liveAdmin) func proxyURLComesFromTheOptionTheEnvironmentOrTheProxyAndIsNeverGuessed() async throws {
        let asking = try ProxyURLOptions.parse(["--admin-url", admin.url])
        let given = try ProxyURLOptions.parse(["--proxy-url", "http://p:1"])
        let alone = try ProxyURLOptions.parse(["--admin-url", "http://127.0.0.1:1"])

        #expect(
            try await given.resolved(environment: ["LAYOVER_PROXY_URL": "http://e:2"]) == "http://p:1")
        #expect(
            try await asking.resolved(environment: ["LAYOVER_PROXY_URL": "http://e:2"]) == "http://e:2")
        #expect(try await asking.resolved(environment: [:]) == "http://127.0.0.1:18080")
        await #expect { _ = try await alone.resolved(environment: [:]) } throws: { Layover.report($0) == 2 }
    }

    @Test(.liveAdmin) func watcherKeepsTheListUpToDate() async throws {
        admin.park(0xa)
        let screen = PendingScreen(host: nil, states: ["waiting"])
        let lines = try await screen.take(try await Self.event("snapshot", "/v1/pending", admin))
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("a00000000000 parked waiting GET http://shop.example/cart tries=1"))
        try await run(["cancel", "a", "--admin-url", admin.url])
        let path = "/v1/pending/\(LiveAdmin.id(0xa))"
        #expect(try await screen.take(try await Self.event("request.ended", path, admin)).isEmpty)
    }

    /// The list as a table, which fits into a narrow terminal, too.
    private static func table() async throws -> [String] {
        let list: PendingDocument = try await admin.get("/v1/pending")
        let narrow = Terminal(width: 60, hasColor: false, isInteractive: false)
        #expect(EntryTable(entries: list.data, now: Date()).lines(narrow).allSatisfy { $0.count <= 60 })
        return EntryTable(entries: list.data, now: Date()).lines(.plain)
    }

    @Test(.liveAdmin) func tableShowsWhatAnEntryWaitsFor() async throws {
        admin.park(0xa)
        let lines = try await Self.table()
        #expect(lines[0].hasPrefix("ID            STATE    WAITING FOR"))
        #expect(lines[1].hasPrefix("a00000000000  waiting  time"))
        #expect(lines[1].hasSuffix("GET     http://shop.example/cart  connection_refused"))
        #expect(EntryTable(entries: [], now: Date()).lines(.plain) == ["no pending requests"])
    }

    @Test(.liveAdmin) func laneColumnIsShownIfThereIsALane() async throws {
        let (id, _) = (admin.park(0xa), admin.park(0xb))
        _ = await admin.engine.patch(id, EntryPatch(priority: 1, lane: "deliveries"))
        let lines = try await Self.table()
        #expect(lines[0].contains("AGE  LANE        METHOD"))
        #expect(lines[1].contains("  deliveries  GET     http://shop.example/cart"))
        #expect(lines[2].contains("  -           GET     http://shop.example/cart"))
        let screen = PendingScreen(host: nil, states: nil, lane: "deliveries")
        #expect(try await screen.take(try await Self.event("snapshot", "/v1/pending", admin)).count == 1)
    }

    @Test func ticketShowsItsAddressAndItsParents() throws {
        let now = Date()
        var entry = try JSONDecoder().decode(EntryDocument.self, from: Data(entryJSON(1).utf8))
        #expect(!Show.lines(entry, now: now).contains { $0.hasPrefix("ticket") || $0.hasPrefix("lane") })
        (entry.ticket, entry.lane, entry.parents, entry.priority) = (entry.id, "deliveries", ["p1", "p2"], 0)
        (entry.client.connected, entry.lastFailure) = (false, nil)
        let lines = Show.lines(entry, now: now)
        #expect(lines.contains("ticket    /.layover/tickets/\(entry.id) on the proxy port"))
        #expect(lines.contains("lane      deliveries"))
        #expect(lines.contains("after     p1") && lines.contains("after     p2"))
        #expect(lines.contains("priority  0 (0 first, 7 last)"))
        #expect(lines.contains("client    127.0.0.1:5, disconnected"))
    }

    @Test func drainIsSentOnce() async throws {
        let asked = Mutex(0)
        try await LiveAdmin.with(sources: { $0.drain = { asked.withLock { $0 += 1 } } }) { admin in
            try await run(["drain", "--admin-url", admin.url])
            #expect(asked.withLock { $0 } == 1)
        }
    }

    private static func event(
        _ name: String, _ path: String, _ admin: LiveAdmin
    ) async throws -> EventReader.Event {
        .init(id: "", name: name, data: try await admin.client().send(AdminCall(path)).text)
    }
}
