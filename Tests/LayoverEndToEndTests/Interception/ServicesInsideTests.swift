import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Services of the proxy for requests inside an intercepted connection.
    @Suite(.bothPaths) struct ServicesInside {
        @Test func bodyThatBreaksOffGoesOnAndIsLogged() async throws {
            let (test, origin) = try await InterceptionScene.withOrigin(with: #""log": {"access": "json"}, "#)
            let (folder, count) = (try TemporaryFolder(), 700_000)
            let file = folder.file("download")
            let result = try await test.curl("/broken/\(count)", "--fail", "-o", file.path).run()
            #expect(result.status == 0, "\(result)")
            let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
            #expect(try Data(contentsOf: file) == bytes)
            #expect(origin.records.count == 4)
            // One line, which tells how often it went on.
            let layover = test.scene.layover
            let line = try await FolderWatch(layover.folder.url).first("the line of the access log") {
                layover.process.output.split(separator: "\n").first { $0.contains("/broken/") }.map(String.init)
            }
            #expect(line.contains(#""resumed":3"#) && line.contains(#""status":200"#), "\(line)")
            #expect(line.contains(#""outcome":"done""#), "\(line)")
            struct Ended: Decodable {
                struct Entry: Decodable { var id: String }
                var data: [Entry]
            }
            let id = try await firstValue("the request has ended") {
                let history = try await layover.call("GET", "/v1/pending?state=delivered")
                return try JSONDecoder().decode(Ended.self, from: history.body).data.first?.id
            }
            let explained = try await layover.command("explain", id).succeed()
            #expect(explained.output.contains("resumed=3"), "\(explained)")
        }

        /// An event is not withheld until more bytes come: the origin sends no more, and its response does not end.
        @Test(arguments: ["--http1.1", "--http2"]) func eventComesAsSoonAsItIsSent(version: String) async throws {
            let (test, origin) = try await InterceptionScene.withOrigin()
            let client = try test.curl("/events", "--no-buffer", version).start()
            try await client.prints("data: one\n\n")
            // If the response had ended behind the event, curl would be content.
            await origin.kill()
            let result = await client.result()
            #expect(result.status != 0 && result.output == "data: one\n\n", "the response breaks off with its origin: \(result)")
            withExtendedLifetime(test) {}
        }

        @Test func ticketIsAcceptedAndDelivered() async throws {
            let test = try await InterceptionScene()
            let layover = test.scene.layover
            let accepted = try await test.curl(
                "/echo?ticket", "--include", "--data", "one order", "--header", "Prefer: respond-async, wait=0"
            ).run()
            #expect(accepted.output.contains(" 202"), "\(accepted)")
            let location = try #require(
                accepted.output.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("location: ") })
            let id = try #require(location.split(separator: "/").last.map(String.init))
            let origin = try await test.scene.startOrigin(test.authority.identity)
            #expect(try await layover.ticket(id, wait: 20).state == "delivered")
            #expect(try await layover.ticketResponse(id).text.contains(#""length": 9,"#))
            #expect(origin.records.map(\.target) == ["/echo?ticket"])
            // The client can use the address of the ticket: it is not a path of the origin.
            let read = try await Command("curl", ["--silent", "--fail", String(location.dropFirst("location: ".count))]).run()
            #expect(read.status == 0 && read.output.contains("delivered"), "\(location) \(read)")
        }

        @Test func copyIsReadWhileTheOriginIsAway() async throws {
            let (test, origin) = try await InterceptionScene.withOrigin()
            let first = try await test.curl("/echo?max-age=1", "--fail").run()
            #expect(first.status == 0)
            let deadline = Deadline(in: .seconds(20))
            while !(try await test.scene.layover.call("GET", "/v1/cache").text.contains("max-age=1")), !deadline.hasPassed {}
            await origin.kill()
            let offline = try await test.curl("/echo?max-age=1", "--fail", "--include").run()
            #expect(offline.status == 0 && offline.output.hasSuffix(first.output), "\(offline)")
            #expect(offline.output.lowercased().contains("cache-status: layover; hit"), "\(offline)")
        }
    }
}
