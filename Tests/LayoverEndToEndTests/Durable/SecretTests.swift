import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Secrets of requests on the disk.
    @Suite struct Secrets {
        private static let authorization = "Bearer plain-7f1c-authorization"
        private static let cookie = "session=plain-7f1c-cookie"
        private static let proxyAuthorization = "Basic cGxhaW4tN2YxYzpwcm94eQ=="
        private static let bearings = [authorization, cookie, proxyAuthorization, "plain-7f1c", "cGxhaW4tN2YxYzpwcm94eQ"]

        /// All files in the folder of the store, by name.
        private func files(of scene: DurableScene) throws -> [String: Data] {
            var files: [String: Data] = [:]
            let folder = scene.folder.url
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where name != "config.json" {
                files[name] = try? Data(contentsOf: folder.appendingPathComponent(name))
            }
            return files
        }

        private func expectNothingInClear(_ scene: DurableScene, _ moment: String) throws {
            let files = try files(of: scene)
            #expect(files.keys.contains("layover.sqlite-wal") || files.keys.contains("layover.sqlite"))
            for (name, bytes) in files {
                for secret in Self.bearings {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(moment): \(secret) in \(name)")
                }
            }
        }

        @Test func noSecretIsStoredInPlainText() async throws {
            let scene = try await DurableScene()
            let response = try await scene.send(
                "secret", "Prefer: respond-async, wait=0", "Authorization: \(Self.authorization)", "Cookie: \(Self.cookie)",
                "Proxy-Authorization: \(Self.proxyAuthorization)", "X-Plain: found-in-clear", bodyByteCount: 200_000)
            #expect(response.status == 202)
            let wal = try #require(try files(of: scene)["layover.sqlite-wal"])
            #expect(wal.range(of: Data("found-in-clear".utf8)) != nil, "the search finds what is in clear")
            try expectNothingInClear(scene, "while it waits")
            await scene.layover.kill()
            let again = try await scene.restarted()
            try expectNothingInClear(again, "after a crash")
            let origin = try await again.startOrigin()
            try await again.expectDelivery(of: [#require(response.ticket)])
            #expect(try origin.arrivals(of: "secret") == 1)
            try expectNothingInClear(again, "once it is delivered")
            #expect(await again.layover.stop().status == 0)
            try expectNothingInClear(again, "in the end")
        }

        /// Fields of a route are secret under any name, because the origin defines the names.
        @Test func fieldsOfARouteAreNotStoredInPlainText() async throws {
            let route =
                #""routes": {"own": {"host": "127.0.0.1", "setFields": {"X-Odd": "plain-7f1c-set"}, "addFields": {"X-Odder": "plain-7f1c-add"}}}"#
            let configuration = DurableScene.configuration.replacingOccurrences(of: #""proxy":"#, with: route + #", "proxy":"#)
            let scene = try await DurableScene(configuration: configuration)
            let ticket = try await scene.accept("routed")
            try expectNothingInClear(scene, "while it waits")
            await scene.layover.kill()
            let again = try await scene.restarted()
            let origin = try await again.startOrigin()
            try await again.expectDelivery(of: [ticket])
            #expect(try origin.arrivals(of: "routed") == 1)
            try expectNothingInClear(again, "once it is delivered")
        }

        @Test func filesOfTheStoreAreAccessibleOnlyToTheirOwner() async throws {
            let folder = try TemporaryFolder()
            let scene = try await DurableScene(storeIn: folder.file("store").path)
            _ = try await scene.accept("big", bodyByteCount: 200_000)
            let store = folder.file("store").path
            #expect(try mode(store) == 0o700)
            #expect(try mode(store + "/spool") == 0o700)
            let names = try FileManager.default.subpathsOfDirectory(atPath: store)
            #expect(names.contains { $0.hasPrefix("spool/") && $0.hasSuffix(".request") })
            for name in names where name != "spool" { #expect(try mode("\(store)/\(name)") & 0o077 == 0, "\(name)") }
        }

        private func mode(_ path: String) throws -> Int {
            try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        }
    }
}
