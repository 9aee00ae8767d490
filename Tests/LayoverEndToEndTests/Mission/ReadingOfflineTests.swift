import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// S3j: reading works offline from a local copy.
    @Suite struct ReadingOffline {
        private let scene: Scene
        private let origin: RunningOrigin

        init() async throws {
            scene = try await Scene(#"{"policies":{"default":{"cache":"staleIfError"}}}"#)
            origin = try await scene.startOrigin()
            try write("one", in: scene)
        }

        private func get(_ scene: Scene, _ path: String, _ fields: String = "") async throws -> PlainResponse {
            try await scene.layover.exchange(
                "GET \(scene.url(path)) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(fields)\r\n")
        }

        private func write(_ text: String, in scene: Scene) throws {
            try text.write(to: scene.root.file("page.txt"), atomically: true, encoding: .utf8)
        }

        /// A copy is on disk a moment after its first reader has the response.
        ///
        /// - Parameter before: The bytes of the copy whose place it takes.
        /// - Returns: Its bytes.
        @discardableResult
        private func waitForCopy(in scene: Scene, otherThan before: Int? = nil) async throws -> Int {
            struct Listing: Decodable {
                struct Copy: Decodable { var bytes: Int }
                var data: [Copy]
            }
            let deadline = Deadline(in: .seconds(20))
            while !deadline.hasPassed {
                let response = try await scene.layover.call("GET", "/v1/cache")
                let newest = try JSONDecoder().decode(Listing.self, from: response.body).data.first
                if let newest, newest.bytes != before { return newest.bytes }
            }
            throw ProcessError("No copy in time.")
        }

        @Test func s3jCachedResponseIsServedOfflineAndThenRefreshed() async throws {
            let online = try await get(scene, "/page.txt")
            #expect(online.text == "one")
            #expect(online.field("Cache-Status") == nil, "while all is well nothing changes")
            let byteCount = try await waitForCopy(in: scene)
            await origin.kill()

            let offline = try await get(scene, "/page.txt")
            #expect(offline.status == 200)
            #expect(offline.text == "one")
            #expect(offline.field("Age") != nil)
            #expect(offline.field("Cache-Status")?.hasPrefix("layover; hit") == true)
            #expect(offline.field("Proxy-Status")?.contains("error=connection_refused") == true)

            // The gate is being shut: once it is, a client with `only-if-cached` gets the same as any other client.
            let deadline = Deadline(in: .seconds(20))
            var onlyCached = try await get(scene, "/page.txt", "Cache-Control: only-if-cached\r\n")
            while onlyCached.status != 200, !deadline.hasPassed {
                onlyCached = try await get(scene, "/page.txt", "Cache-Control: only-if-cached\r\n")
            }
            #expect(onlyCached.status == 200)
            #expect(onlyCached.text == "one")
            #expect(try await get(scene, "/other.txt", "Cache-Control: only-if-cached\r\n").status == 504)

            // The refresh waits in the background, for nobody.
            try await scene.layover.waitForPending("the refresh waits") {
                $0.data.count == 1 && $0.data.allSatisfy { $0.state == "waiting" || $0.state == "attempting" }
            }
            try write("the second", in: scene)
            let returned = try await scene.startOrigin()
            try await scene.layover.waitForPending("the refresh is over") { $0.data.isEmpty }
            try await waitForCopy(in: scene, otherThan: byteCount)
            await returned.kill()
            #expect(try await get(scene, "/page.txt").text == "the second", "the next reader gets the new one")
        }

        /// A copy that is fresh says no less of where it comes from than a stale one (RFC 9211 section 2, RFC 9209).
        @Test func s3jFreshCachedResponseStatesThatItsOriginIsUnreachable() async throws {
            for _ in 1...2 {
                let online = try await get(scene, "/page.txt?max-age=600")
                #expect(online.field("Cache-Status") == nil && online.field("Proxy-Status") == nil)
            }
            #expect(origin.records.count == 2, "who can be reached is asked")
            try await waitForCopy(in: scene)
            await origin.kill()

            let offline = try await get(scene, "/page.txt?max-age=600")
            #expect(offline.status == 200)
            #expect(offline.text == "one")
            let age = try #require(offline.field("Age").flatMap { Int($0) })
            #expect((0..<600).contains(age))
            #expect(offline.field("Cache-Status") == "layover; hit; ttl=\(600 - age)")
            #expect(
                offline.field("Proxy-Status")
                    == "layover; error=connection_refused; details=\"answered from the cache\"")
            // There is nothing to ask anew.
            try await scene.layover.waitForPending("nobody waits") { $0.data.isEmpty }
        }

        @Test func s3jClientThatForbidsCachedResponsesGetsNone() async throws {
            _ = try await get(scene, "/page.txt")
            try await waitForCopy(in: scene)
            await origin.kill()
            let response = try await get(scene, "/page.txt", "Cache-Control: no-cache\r\nLayover-Mode: pass\r\n")
            #expect(response.status == 502)
            #expect(response.field("Cache-Status") == nil)
        }

        @Test func s3jOnlyIfCachedNeverGoesToTheOrigin() async throws {
            let response = try await get(scene, "/page.txt", "Cache-Control: only-if-cached\r\n")
            #expect(response.status == 504)
            #expect(origin.records.isEmpty)
        }

        /// The copy is stale, and its origin is there: an admin's word counts as if it were not.
        @Test func s3jOnlyIfCachedIsServedInOfflineMode() async throws {
            _ = try await get(scene, "/page.txt?max-age=0")
            try await waitForCopy(in: scene)
            _ = try await scene.layover.call("PUT", "/v1/reachability", json: #"{"mode":"offline"}"#)

            let hit = try await get(scene, "/page.txt?max-age=0", "Cache-Control: only-if-cached\r\n")
            #expect(hit.status == 200)
            #expect(hit.text == "one")
            #expect(hit.field("Age") != nil)
            #expect(hit.field("Cache-Status")?.hasPrefix("layover; hit; ttl=") == true)
            #expect(hit.field("Proxy-Status")?.hasPrefix("layover; error=destination_unavailable;") == true)
            let miss = try await get(scene, "/other.txt", "Cache-Control: only-if-cached\r\n")
            #expect(miss.status == 504)
            #expect(miss.text.contains(#""kind":"only_if_cached""#))
            #expect(origin.requests == ["GET /page.txt?max-age=0"])
        }
    }
}
