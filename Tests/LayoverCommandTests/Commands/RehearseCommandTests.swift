import Foundation
import LayoverAdmin
import LayoverCore
import LayoverEngine
import Testing

@testable import layover

/// `layover rehearse`: outages that are played.
struct RehearseCommandTests {
    @Test(.liveAdmin) func rehearsalsBeginAndStop() async throws {
        let address = ["--admin-url", admin.url]
        try await run(["rehearse", "a.example", "refuse"] + address)
        try await run(["rehearse", "b.example:8080", "cut", "--after-bytes", "500", "--for", "30s", "--json"] + address)
        try await run(["rehearse", "c.example", "status", "--status", "500"] + address)
        let orders = await admin.engine.currentRehearsals().map(\.order)
        #expect(orders.map(\.host.description) == ["a.example", "b.example:8080", "c.example"])
        #expect(orders.map(\.fault) == [.refuse, .cut, .status])
        #expect(orders[1].byteCount == 500 && orders[1].length == .seconds(30) && orders[2].status == 500)
        for arguments in [["--list"], ["--list", "--json"]] { try await run(["rehearse"] + arguments + address) }
        try await run(["rehearse", "--stop", "2"] + address)
        #expect(await admin.engine.currentRehearsals().map(\.number) == [1, 3])
        try await run(["rehearse", "--stop", "--all"] + address)
        #expect(await admin.engine.currentRehearsals().isEmpty)
        for arguments in [["--stop", "2"], ["--stop", "--all"]] {
            await exits(["rehearse"] + arguments + address, with: 3)
        }
        for arguments in [["a.example", "explode"], ["http://a.example/", "refuse"], ["a.example", "hang", "--for", "2d"]] {
            await exits(["rehearse"] + arguments + address, with: 1)
        }
    }

    private static func document(_ fault: String, afterBytes: Int? = nil, status: Int? = nil) throws -> RehearsalDocument {
        let json = """
            {"id":"1","host":"a.example","fault":"\(fault)","afterBytes":\(afterBytes.map(String.init) ?? "null"),
             "status":\(status.map(String.init) ?? "null"),"for":"10m","startedAt":"2026-11-23T10:00:00.000Z",
             "endsAt":"2026-11-23T10:10:00.000Z"}
            """
        return try JSONDecoder().decode(RehearsalDocument.self, from: Data(json.utf8))
    }

    @Test func tableShowsTheFaultAndItsEnd() throws {
        let now = try #require(TimeText.date("2026-11-23T10:09:00.000Z"))
        let table = RehearsalTable(rehearsals: [try Self.document("cut", afterBytes: 7)], now: now)
        let lines = table.lines(Terminal(width: 80, hasColor: false, isInteractive: false))
        #expect(lines.count == 2 && lines[1].contains("cut after 7 bytes") && lines[1].contains("60s"))
        #expect(RehearsalTable(rehearsals: [], now: now).lines(Terminal(width: 80, hasColor: false, isInteractive: false)) == ["no rehearsals"])
    }

    @Test func sentencesSayHowToStopItAndWhatItDoesNotReach() throws {
        let refused = try RehearsalTable.began(Self.document("refuse"))
        #expect(refused == ["rehearsal 1: a.example plays refuse for 10m", "stop it with: layover rehearse --stop 1"])
        let partial = try [Self.document("cut", afterBytes: 0), Self.document("slow", afterBytes: 9), Self.document("status", status: 503)]
        for document in partial {
            #expect(RehearsalTable.began(document).last?.contains("CONNECT") == true)
        }
        let stopped = try RehearsalTable.stopped(Self.document("status", status: 500))
        #expect(stopped == "rehearsal 1 stopped: a.example, status 500")
    }
}
