import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Each scene is played without a proxy and by Layover, by each way and on both paths. What the origin received and what the client saw
    /// has to be the same, apart from the differences that the scene lists with their reasons. `make test-direct` runs this suite alone.
    @Suite struct Direct {
        /// Scenes that are played at the same time. Most of them wait.
        private static let width = 12

        @Test func originAndClientSeeTheSameByLayover() async throws { try await Self.playAll([.plain]) }

        @Test func originAndClientSeeTheSameWithTLS() async throws { try await Self.playAll([.tunnel, .interception, .secureTarget]) }

        /// - Parameter ways: All with TLS at the origin, or all without.
        private static func playAll(_ ways: [DirectWay]) async throws {
            let rig = try await DirectRig()
            let impatient = try await DirectRig(clientIdle: DirectScene.clientIdle)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, scene) in DirectScene.all.enumerated() {
                    if number >= width { _ = try await group.next() }
                    group.addTask { try await play(scene, ways.filter(scene.ways.contains), scene.outlastsClientIdle ? impatient : rig) }
                }
                try await group.waitForAll()
            }
        }

        private static func play(_ scene: DirectScene, _ ways: [DirectWay], _ rig: DirectRig) async throws {
            guard let isSecure = ways.first?.isOriginSecure else { return }
            // Races are played often without TLS.
            for _ in 0..<(isSecure ? min(scene.count, 2) : scene.count) {
                let direct = try await log(of: scene, isSecure: isSecure, by: nil, rig)
                for difference in scene.differences where !direct.contains(difference.direct) {
                    Issue.record("\(scene): a difference is listed whose line does not exist: \(difference.direct)")
                }
                for way in ways {
                    for passage in scene.paths.compactMap({ rig.passage(way, $0) }) {
                        // A tunnel differs in nothing.
                        let differences = way == .tunnel ? [] : scene.differences.filter { $0.path == nil || $0.path == passage.path }
                        let expected = direct.map { line in differences.first { $0.direct == line }?.byLayover ?? line }
                        let found = try await log(of: scene, isSecure: isSecure, by: passage, rig)
                        #expect(found == expected, "\(scene), \(way) by \(passage.path)")
                    }
                }
            }
        }

        /// Plays it until this machine was fast enough for it.
        private static func log(
            of scene: DirectScene, isSecure: Bool, by passage: DirectPassage?, _ rig: DirectRig
        ) async throws -> [String] {
            let deadline = Deadline(in: .seconds(120))
            while true {
                let log = try await playOnce(scene, isSecure: isSecure, by: passage, rig)
                if !log.isVoid || deadline.hasPassed { return log.all }
            }
        }

        private static func playOnce(
            _ scene: DirectScene, isSecure: Bool, by passage: DirectPassage?, _ rig: DirectRig
        ) async throws -> DirectLog {
            let (log, isOver) = (DirectLog(), Signal())
            let origin = try MisbehavingOrigin(tls: isSecure ? rig.originTLS : nil) { connection in
                scene.origin(connection, log)
                if connection.number == 1 { isOver.fire() }
            }
            defer { origin.stop() }
            let port = origin.port
            if let program = scene.program {
                let prefix = passage == nil ? "" : "http://127.0.0.1:\(port)"
                let result = try await program(passage?.proxyPort ?? port, prefix).run()
                log.note(.client, "\(result.status) \(result.output)")
            } else {
                try await onOwnThread {
                    let tls = isSecure ? rig.clientTLS : nil
                    try scene.client(DirectClient(originPort: port, passage: passage, directTLS: tls, log: log))
                }
            }
            #expect(await isOver.happened(), "\(scene): the origin's script has not ended")
            return log
        }
    }
}
