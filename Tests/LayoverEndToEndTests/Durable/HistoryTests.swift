import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Tickets that ended in an earlier run are listed, searched and sorted like those of this run.
    @Suite struct History {
        private struct Listing: Decodable {
            struct Entry: Decodable {
                var id: String
                var url: String
                var state: String
            }

            var data: [Entry]
            var nextCursor: String?
        }

        private func list(_ scene: Scene, _ query: String) async throws -> Listing {
            let response = try await scene.layover.call("GET", "/v1/pending?state=delivered,cancelled,expired,failed&\(query)")
            #expect(response.status == 200, "\(response.text)")
            return try JSONDecoder().decode(Listing.self, from: Data(response.text.utf8))
        }

        private func paths(_ scene: Scene, _ query: String) async throws -> [String] {
            try await list(scene, query).data.map { String($0.url.drop { $0 != "0" && $0 != "/" }.dropFirst(2).drop { $0 != "/" }) }
        }

        @Test func ticketsOfAnEarlierRunAreListedSearchedAndSorted() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let tickets = [
                try await scene.submit("/echo/Zimt"), try await scene.submit("/echo/caf%C3%A9?token=hidden"),
                try await scene.submit("/echo/Apfel", method: "PUT"),
            ]
            let ids = try await scene.layover.waitForPending("all wait") { $0.data.count == 3 }.data.map(\.id)
            #expect(try await scene.command("cancel", ids[2]).status == 200)
            let origin = try await scene.startOrigin()
            try await scene.networkAppears()
            for ticket in tickets.prefix(2) { #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered") }
            let before = try await list(scene, "sort=-endedAt")
            #expect(before.data.count == 3)
            #expect(await scene.layover.stop().status == 0)

            let again = try await scene.restarted()
            #expect(try await list(again, "sort=-endedAt").data.map(\.id) == before.data.map(\.id))
            #expect(try await list(again, "").data.map(\.id) == ids, "by arrival")
            #expect(try await list(again, "q=CAF%C3%89").data.map(\.id) == [ids[1]])
            #expect(try await list(again, "q=cafe").data.isEmpty, "a letter has its mark")
            #expect(try await list(again, "q=hidden").data.isEmpty, "what may be a secret is not searched")
            #expect(try await list(again, "q=\(ids[0].prefix(9))").data.map(\.id) == [ids[0]], "by the id that is shown")
            #expect(try await list(again, "method=put").data.map(\.state) == ["cancelled"])
            #expect(try await paths(again, "sort=url") == ["/echo/Apfel", "/echo/caf%C3%A9?token=***", "/echo/Zimt"])

            // The fourth ends in this run: memory and store make one list.
            let fourth = try await again.submit("/echo/Mitte")
            #expect(try await again.layover.ticket(fourth, wait: 20).state == "delivered")
            var (pages, cursor): ([String], String?) = ([], nil)
            repeat {
                let page = try await list(again, "sort=-url&limit=1" + (cursor.map { "&cursor=\($0)" } ?? ""))
                pages += page.data.map { String($0.url.split(separator: "/").last ?? "") }
                cursor = page.nextCursor
            } while cursor != nil && pages.count < 9
            #expect(pages == ["Zimt", "Mitte", "caf%C3%A9?token=***", "Apfel"])
            let lines = try await again.layover.call(
                "GET", "/v1/pending?state=delivered,cancelled", fields: ["Accept: application/jsonl"]).text.split(separator: "\n")
            #expect(lines.count == 4)
            #expect(origin.records.count == 3)
            #expect(await again.layover.stop().status == 0)
        }

        /// Memory keeps only the beginning of a long URL of a ticket that has ended.
        @Test func longURLIsWholeBeforeAndAfterARestart() async throws {
            let (scene, origin) = try await Scene.withOrigin(RunningLayover.noTimedRetries)
            let tail = String(repeating: "abcdefgh", count: 768) + "/Tail"
            let ticket = try await scene.submit("/made/\(tail)")
            try await scene.networkAppears()
            #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered")
            let id = try await scene.layover.entry(of: ticket)
            try await expect(tail, id, in: scene)
            #expect(await scene.layover.stop().status == 0)

            let read = "import sqlite3,sys; print(*sqlite3.connect(sys.argv[1]).execute('SELECT url FROM ticket').fetchone())"
            let file = scene.layover.folder.file("layover.sqlite").path
            let urls = try await Command("/usr/bin/python3", ["-c", read, file]).succeed().output
            #expect(urls.trimmingCharacters(in: .whitespacesAndNewlines).hasSuffix("/made/\(tail)"))
            let again = try await scene.restarted()
            try await expect(tail, id, in: again)
            #expect(origin.records.count == 1)
            #expect(await again.layover.stop().status == 0)
        }

        private func expect(_ tail: String, _ id: String, in scene: Scene) async throws {
            #expect(try await scene.layover.call("GET", "/v1/pending/\(id)").text.contains("/made/\(tail)\""))
            let found = try await list(scene, "q=tail&sort=url").data
            #expect(found.map(\.id) == [id])
            #expect(found.first?.url.hasSuffix("/made/\(tail)") == true)
            #expect(try await scene.layover.command("show", id).run().output.contains("/made/\(tail)"))
        }
    }
}
