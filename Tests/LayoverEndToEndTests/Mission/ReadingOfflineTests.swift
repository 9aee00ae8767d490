import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// S3j: reading works offline from a local copy.
    @Suite struct ReadingOffline {
        private static let caching = #"{"policies":{"default":{"cache":"staleIfError"}}}"#

        private func get(_ scene: Scene, _ path: String, _ fields: String = "") async throws -> PlainAnswer {
            try await scene.layover.exchange(
                "GET \(scene.url(path)) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(fields)\r\n")
        }

        private func write(_ text: String, in scene: Scene) throws {
            try text.write(to: scene.root.file("page.txt"), atomically: true, encoding: .utf8)
        }

        @Test func s3jReadsFromTheLocalCopyAndThenTheNewOne() async throws {
            let scene = try await Scene(Self.caching)
            try write("one", in: scene)
            let origin = try await scene.startOrigin()
            let online = try await get(scene, "/page.txt")
            #expect(online.text == "one")
            #expect(online.field("Cache-Status") == nil, "while all is well nothing changes")
            await origin.kill()

            let offline = try await get(scene, "/page.txt")
            #expect(offline.status == 200)
            #expect(offline.text == "one")
            #expect(offline.field("Age") != nil)
            #expect(offline.field("Cache-Status")?.hasPrefix("layover; hit") == true)
            #expect(offline.field("Proxy-Status")?.contains("error=connection_refused") == true)

            // Its gate is shut now: who wants a cached answer only gets no less than who would take any.
            let onlyCached = try await get(scene, "/page.txt", "Cache-Control: only-if-cached\r\n")
            #expect(onlyCached.status == 200)
            #expect(onlyCached.text == "one")
            #expect(try await get(scene, "/other.txt", "Cache-Control: only-if-cached\r\n").status == 504)

            // The refresh waits in the background, for nobody.
            try await scene.layover.waitForPending("the refresh waits") {
                $0.data.count == 1 && $0.data.allSatisfy { $0.state == "waiting" || $0.state == "attempting" }
            }
            try write("two", in: scene)
            let returned = try await scene.startOrigin()
            try await scene.layover.waitForPending("the refresh is over") { $0.data.isEmpty }
            await returned.kill()
            #expect(try await get(scene, "/page.txt").text == "two", "the next reader gets the new one")
        }

        @Test func s3jNobodyGetsACopyWhoForbidsIt() async throws {
            let scene = try await Scene(Self.caching)
            try write("one", in: scene)
            let origin = try await scene.startOrigin()
            _ = try await get(scene, "/page.txt")
            await origin.kill()
            let answer = try await get(scene, "/page.txt", "Cache-Control: no-cache\r\nLayover-Mode: pass\r\n")
            #expect(answer.status == 502)
            #expect(answer.field("Cache-Status") == nil)
        }

        @Test func s3jOnlyIfCachedNeverGoesToTheOrigin() async throws {
            let scene = try await Scene(Self.caching)
            try write("one", in: scene)
            let origin = try await scene.startOrigin()
            let answer = try await get(scene, "/page.txt", "Cache-Control: only-if-cached\r\n")
            #expect(answer.status == 504)
            #expect(origin.records.isEmpty)
        }
    }
}
