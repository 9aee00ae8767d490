import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// How soon the rest of a response comes once Layover can know that its origin is back.
    @Suite(.bothPaths) struct ResumeDelay {
        /// The sign that the origin is back. No due time passes before it.
        enum Word: CaseIterable {
            /// A person presses Retry.
            case retry
            /// The server listens again, on this machine.
            case kernel
        }

        private static let breakCount = 5
        /// A delay that a person could notice. Other work of the machine is included in the measurement.
        private static let limit = 0.1

        private static func path(breaks: Int) -> String { "/parts/\((breaks + 1) * TimedDownload.partByteCount)" }

        /// The first retry finds the port closed, so that the gate is shut; the next one would be an hour later.
        private static let oneTimedRetry =
            #"{"policies":{"default":{"delay":{"type":"schedule","delays":["20ms","1h"],"jitter":"none"}}}}"#

        @Test(arguments: Word.allCases)
        func downloadResumesWithin100MsOfOriginRecovery(word: Word) async throws {
            let delay = try await smallest(below: Self.limit) { Self.median(of: try await loseTheOrigin(until: word), word) }
            #expect(delay < Self.limit)
        }

        /// - Returns: After how many seconds the rest came, each time.
        private func loseTheOrigin(until word: Word) async throws -> [Double] {
            let scene = try await Scene(word == .retry ? RunningLayover.noTimedRetries : Self.oneTimedRetry)
            var origin = try await scene.startOrigin()
            let (layover, url) = (scene.layover, scene.url(Self.path(breaks: Self.breakCount)))
            async let download = onOwnThread { try TimedDownload(url, through: layover, within: .seconds(180)) }
            var toldAt: [Double] = []
            for number in 1...Self.breakCount {
                _ = try await origin.waitForRecord("part \(number) has left") { $0.event == "stalled" }
                await origin.kill()
                let id = try await Self.waitingDownload(in: layover, parts: number, word == .retry ? nil : "connection_refused")
                origin = try await scene.startOrigin()
                toldAt.append(try await Self.tell(word, id, scene, origin))
            }
            return try Self.delays(of: try await download, after: toldAt)
        }

        /// The link is away for a while after the break. No due time passes: the monitor that sees the link wakes the
        /// download.
        ///
        /// - Parameters:
        ///   - debounce: For so long changes of links are gathered before they count (`reachability.debounce`, 500 ms by default). A way
        ///     where none was counts at once.
        ///   - breaks: Of one link, which has to wait longer where it flaps.
        ///   - links: A link that has just come up may lose the first packet, which is sent again after a second.
        @Test(arguments: [(0, breakCount, 1), (500, 1, 3)])
        func downloadResumesWithin100MsOfLinkRecovery(debounceMilliseconds debounce: Int, breaks: Int, links: Int) async throws {
            guard await NetworkPair.isPermitted(orSkip: "no real network outage") else { return }
            let delay = try await smallest(below: Self.limit) {
                var delays: [Double] = []
                for _ in 1...links { delays += try await NetworkPair.with { try await loseTheLink(of: $0, debounce, breaks) } }
                return Self.median(of: delays, "debounce \(debounce) ms")
            }
            #expect(delay < Self.limit)
        }

        /// - Returns: After how many seconds the rest came, each time.
        private func loseTheLink(of network: NetworkPair, _ debounce: Int, _ breaks: Int) async throws -> [Double] {
            let (root, port) = (try TemporaryFolder(), try ReservedPort())
            let (far, near) = (network.name(.far), network.name(.near))
            var origin = try await RunningOrigin.start(in: root, port: port, address: NetworkPair.farAddress, namespace: far)
            let policies = RunningLayover.noTimedRetries.dropLast()
            let layover = try await RunningLayover.start(
                policies + #","reachability":{"debounce":"\#(debounce)ms"}}"#, namespace: near)
            let url = "http://\(NetworkPair.farAddress):\(port.number)\(Self.path(breaks: breaks))"
            async let download = onOwnThread { try TimedDownload(url, through: layover, within: .seconds(180)) }
            var backAt: [Double] = []
            for number in 1...breaks {
                _ = try await origin.waitForRecord("part \(number) has left") { $0.event == "stalled" }
                await origin.kill()
                _ = try await Self.waitingDownload(in: layover, parts: number, nil)
                try await network.link(.near, up: false)
                try await layover.waitUntilOffline()
                origin = try await RunningOrigin.start(in: root, port: port, address: NetworkPair.farAddress, namespace: far)
                backAt.append(TimedDownload.monotonicSeconds)
                try await network.link(.near, up: true)
            }
            let delays = try Self.delays(of: try await download, after: backAt)
            await layover.stop()
            return delays
        }

        private static func tell(_ word: Word, _ id: String, _ scene: Scene, _ origin: RunningOrigin) async throws -> Double {
            switch word {
            case .retry:
                let now = TimedDownload.monotonicSeconds
                let response = try await scene.layover.call("POST", "/v1/pending/\(id)/retry", json: "{}")
                #expect(response.status < 300, "\(response.text)")
                return now
            case .kernel: return try #require(origin.listensAt)
            }
        }

        /// The download, once so many parts of it have come and it waits.
        private static func waitingDownload(in layover: RunningLayover, parts: Int, _ kind: String?) async throws -> String {
            let listing = try await layover.waitForPending("the download waits behind part \(parts)") { pending in
                pending.data.contains {
                    $0.state == "waiting" && $0.resume?.done == parts * TimedDownload.partByteCount
                        && (kind == nil || $0.lastFailure?.kind == kind)
                }
            }
            return try #require(listing.data.first).id
        }

        /// Every byte came; answers with the seconds until the rest came after each break.
        private static func delays(of download: TimedDownload, after toldAt: [Double]) throws -> [Double] {
            try #require(download.partsBeganAt.count == toldAt.count + 1)
            #expect(
                download.body == Data((0..<download.partsBeganAt.count * TimedDownload.partByteCount).map { UInt8(truncatingIfNeeded: $0) })
            )
            return zip(download.partsBeganAt.dropFirst(), toldAt).map { $0 - $1 }
        }

        /// The median, because the machine does other things too.
        private static func median(of delays: [Double], _ what: Any) -> Double {
            print("\(what): the rest came after \(delays.map { "\(Int($0 * 1000)) ms" }.joined(separator: ", "))")
            return delays.sorted()[delays.count / 2]
        }
    }
}
