import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Each scene is played without a proxy and by Layover, on both paths. What the origin received and what the client saw has to be the
    /// same, apart from the differences that the scene lists with their reasons. `make test-direct` runs this suite alone.
    @Suite struct Direct {
        /// Short, so that pauses in bodies are longer than what a connection between two requests may be idle.
        private static let configuration = #"{"timeouts":{"clientIdle":"2s"}}"#
        /// Scenes that are played at the same time. Most of them wait.
        private static let width = 8

        @Test func originAndClientSeeTheSameByLayover() async throws {
            let layover = try await RunningLayover.start(Self.configuration)
            let libcurl = try await RunningLayover.$upstream.withValue("libcurl") { try await RunningLayover.start(Self.configuration) }
            let ports: [DirectPath: Int] = [.layover: layover.proxyPort, .libcurl: libcurl.proxyPort]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, scene) in DirectScene.all.enumerated() {
                    if number >= Self.width { _ = try await group.next() }
                    group.addTask { try await Self.play(scene, ports) }
                }
                try await group.waitForAll()
            }
        }

        private static func play(_ scene: DirectScene, _ ports: [DirectPath: Int]) async throws {
            for _ in 0..<scene.count {
                let direct = try await log(of: scene, proxyPort: nil)
                for path in scene.paths {
                    let differences = scene.differences.filter { $0.path == nil || $0.path == path }
                    for difference in differences where !direct.contains(difference.direct) {
                        Issue.record("\(scene): a difference is listed whose line does not exist: \(difference.direct)")
                    }
                    let expected = direct.map { line in differences.first { $0.direct == line }?.byLayover ?? line }
                    let found = try await log(of: scene, proxyPort: ports[path])
                    #expect(found == expected, "\(scene), by \(path)")
                }
            }
        }

        /// Plays it once.
        private static func log(of scene: DirectScene, proxyPort: Int?) async throws -> [String] {
            let (log, isOver) = (DirectLog(), Signal())
            let origin = try MisbehavingOrigin { connection in
                scene.origin(connection, log)
                if connection.number == 1 { isOver.fire() }
            }
            defer { origin.stop() }
            let port = origin.port
            if let program = scene.program {
                let result = try await program(proxyPort ?? port, proxyPort == nil ? "" : "http://127.0.0.1:\(port)").run()
                log.note(.client, "\(result.status) \(result.output)")
            } else {
                try await onOwnThread { try scene.client(DirectClient(originPort: port, proxyPort: proxyPort, log: log)) }
            }
            #expect(await isOver.happened(), "\(scene): the origin's script has not ended")
            return log.all
        }
    }
}
