import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// How soon the rest of a response comes once Layover can know that its origin is back.
    @Suite(.bothPaths) struct ResumeDelay {
        /// What says that the origin is back. Nothing falls due by itself meanwhile.
        enum Word: CaseIterable {
            /// A person presses Retry.
            case retry
            /// The server listens again, on this machine.
            case kernel
        }

        private static let breakCount = 5
        /// A wait that anybody could notice. What the machine does beside it is part of what is measured.
        private static let limit = 0.1

        private static func path(breaks: Int) -> String { "/parts/\((breaks + 1) * TimedDownload.partByteCount)" }

        /// The first retry finds the port closed, so that the gate is shut; the next one would be an hour later.
        private static let oneTimedRetry =
            #"{"policies":{"default":{"delay":{"type":"schedule","delays":["20ms","1h"],"jitter":"none"}}}}"#

        @Test(arguments: Word.allCases)
        func theRestComesWithin100MsOfTheWordThatItsOriginIsBack(word: Word) async throws {
            let scene = try await Scene(word == .retry ? RunningLayover.noTimedRetries : Self.oneTimedRetry)
            var origin = try await scene.startOrigin()
            let (layover, url) = (scene.layover, scene.url(Self.path(breaks: Self.breakCount)))
            async let download = onOwnThread { try TimedDownload(url, through: layover, within: .seconds(60)) }
            var toldAt: [Double] = []
            for number in 1...Self.breakCount {
                _ = try await origin.waitForRecord("part \(number) has left") { $0.event == "stalled" }
                await origin.kill()
                let id = try await Self.waitingDownload(in: layover, parts: number, word == .retry ? nil : "connection_refused")
                origin = try await scene.startOrigin()
                toldAt.append(try await Self.tell(word, id, scene, origin))
            }
            try Self.expect(try await download, toldAt, within: Self.limit, word)
        }

        /// The link is away for a while after the break. Nothing falls due by itself: the monitor that sees the link wakes the download.
        ///
        /// - Parameters:
        ///   - debounce: For so long changes of links are gathered before they count (`reachability.debounce`, 500 ms by default). A way
        ///     where none was counts at once.
        ///   - breaks: A link that flaps has to wait longer.
        @Test(arguments: [(0, breakCount), (500, 1)])
        func theRestComesWithin100MsOnceTheLinkIsBack(debounceMilliseconds debounce: Int, breaks: Int) async throws {
            if let refusal = await NetworkPair.refusal() {
                print("SKIPPED: no real network outage, this process may not make network namespaces: \(refusal)")
                return
            }
            let network = try await NetworkPair()
            do {
                try await loseTheLink(of: network, debounce, breaks)
            } catch {
                await network.remove()
                throw error
            }
            await network.remove()
        }

        private func loseTheLink(of network: NetworkPair, _ debounce: Int, _ breaks: Int) async throws {
            let (root, port) = (try TemporaryFolder(), try ReservedPort())
            let (far, near) = (network.name(.far), network.name(.near))
            var origin = try await RunningOrigin.start(in: root, port: port, address: NetworkPair.farAddress, namespace: far)
            let policies = RunningLayover.noTimedRetries.dropLast()
            let layover = try await RunningLayover.start(
                policies + #","reachability":{"debounce":"\#(debounce)ms"}}"#, namespace: near)
            let url = "http://\(NetworkPair.farAddress):\(port.number)\(Self.path(breaks: breaks))"
            async let download = onOwnThread { try TimedDownload(url, through: layover, within: .seconds(60)) }
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
            try Self.expect(try await download, backAt, within: Self.limit, "debounce \(debounce) ms")
            await layover.stop()
        }

        private static func tell(_ word: Word, _ id: String, _ scene: Scene, _ origin: RunningOrigin) async throws -> Double {
            switch word {
            case .retry:
                let now = TimedDownload.monotonicSeconds
                let answer = try await scene.layover.call("POST", "/v1/pending/\(id)/retry", json: "{}")
                #expect(answer.status < 300, "\(answer.text)")
                return now
            case .kernel: return try #require(origin.listensAt)
            }
        }

        /// The download, once so many parts of it have come and it waits.
        private static func waitingDownload(in layover: RunningLayover, parts: Int, _ kind: String?) async throws -> String {
            let listing = try await layover.waitForPending("the download waits behind part \(parts)") { pending in
                pending.data.contains {
                    $0.state == "waiting" && $0.resume?.done == parts * TimedDownload.partByteCount && (kind == nil || $0.lastFailure?.kind == kind)
                }
            }
            return try #require(listing.data.first).id
        }

        /// Every byte came, and the rest after each break in time. The median, because the machine does other things too.
        private static func expect(_ download: TimedDownload, _ toldAt: [Double], within limit: Double, _ what: Any) throws {
            try #require(download.partsBeganAt.count == toldAt.count + 1)
            #expect(download.body == Data((0..<download.partsBeganAt.count * TimedDownload.partByteCount).map { UInt8(truncatingIfNeeded: $0) }))
            let delays = zip(download.partsBeganAt.dropFirst(), toldAt).map { $0 - $1 }
            print("\(what): the rest came after \(delays.map { "\(Int($0 * 1000)) ms" }.joined(separator: ", "))")
            #expect(delays.sorted()[delays.count / 2] <= limit)
        }
    }
}
