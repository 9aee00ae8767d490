import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Two network namespaces joined by a cable. Layover and its clients are on one side, the origin on the other.
    @Suite(.bothPaths) struct NetworkOutage {
        /// State of the last connection to the origin when the outage begins.
        enum LastConnection: String, CaseIterable {
            /// Kept alive, so that a request could be written to it although nothing arrives any more.
            case keptAlive = "/echo"
            case closed = "/closing"
        }

        /// No attempt falls due by itself, so what delivers the requests is the monitor that saw the link.
        @Test(arguments: LastConnection.allCases)
        func requestsWaitWhileTheirOwnLinkIsDownAndAreDeliveredWhenItIsBack(last: LastConnection) async throws {
            try await survive(.near, last)
        }

        /// The cable is pulled at the other end: our interface stays, it only loses its carrier.
        @Test(arguments: LastConnection.allCases)
        func requestsWaitWhileTheOtherEndIsDownAndAreDeliveredWhenItIsBack(last: LastConnection) async throws {
            try await survive(.far, last)
        }

        /// Limit on the time from the link to the first request, in seconds. No retry falls due for an hour, so the monitor has sent it: the limit
        /// is for hangs. The kernel passes on changes of a link once a second; on a quiet machine it takes 10 to 600 ms.
        private static let delayMax = 20.0

        private func survive(_ side: NetworkPair.Side, _ last: LastConnection) async throws {
            try await inTwoNamespaces(last) { network, layover, origin, url in
                try await pull(side, of: network, seenBy: layover)
                let clients = try startClients(of: layover, url)
                try await layover.waitForPending("all clients wait", within: .seconds(60)) {
                    $0.waitingCount == clients.count
                }
                try await loseAnImpatientClient(of: layover, url)
                let before = TimedDownload.monotonicSeconds
                try await network.link(side, up: true)
                let delay = try await expectDelivery(to: clients, from: origin, since: before)
                print("the first request arrived \(Int(delay * 1000)) ms after the link was up")
                #expect(delay <= Self.delayMax)
            }
        }

        /// Takes the link down and waits until the monitor has seen it, so that what follows happens in the outage.
        private func pull(
            _ side: NetworkPair.Side, of network: NetworkPair, seenBy layover: RunningLayover
        ) async throws {
            try await network.link(side, up: false)
            try await layover.waitUntilOffline()
        }

        /// Four readers and one writer: nothing was sent, so the POST waits like the others.
        private func startClients(of layover: RunningLayover, _ url: String) throws -> [RunningProcess] {
            let readers = try (1...4).map { try layover.curl("--fail", "\(url)/echo?reader=\($0)").start() }
            return readers + [try layover.curl("--fail", "--data", "order=1", "\(url)/echo?writer").start()]
        }

        /// A client that gives up after a second and a half of outage; its request must never arrive.
        ///
        /// It also makes the outage longer than a second, which is how often the kernel passes on changes of a
        /// link (net/core/link_watch.c): a link that is back sooner stays unusable for the rest of that second.
        private func loseAnImpatientClient(of layover: RunningLayover, _ url: String) async throws {
            let result = try await layover.curl("--max-time", "1.5", "\(url)/echo?impatient").run()
            // curl's code 28: the time it was given has passed.
            #expect(result.status == 28, "\(result)")
            try await layover.waitForPending("its entry is gone") { pending in
                !pending.data.contains { $0.url.hasSuffix("?impatient") }
            }
        }

        private func expectDelivery(
            to clients: [RunningProcess], from origin: RunningOrigin, since linkUpAt: Double
        ) async throws -> Double {
            for client in clients {
                let result = await client.result()
                #expect(result.status == 0, "\(result)")
            }
            let records = origin.records.filter { $0.at >= linkUpAt }
            #expect(records.count == clients.count)
            #expect(!records.contains { $0.target.hasSuffix("?impatient") })
            #expect(records.count { $0.method == "POST" } == 1)
            return try #require(records.map(\.at).min()) - linkUpAt
        }

        private func inTwoNamespaces(
            _ last: LastConnection,
            _ body: (NetworkPair, RunningLayover, RunningOrigin, _ url: String) async throws -> Void
        ) async throws {
            guard await NetworkPair.isPermitted(orSkip: "no real network outage") else { return }
            try await NetworkPair.with { network in
                let root = try TemporaryFolder()
                let origin = try await RunningOrigin.start(
                    in: root, address: NetworkPair.farAddress, namespace: network.name(.far))
                let layover = try await RunningLayover.start(
                    RunningLayover.noTimedRetries, namespace: network.name(.near))
                let url = "http://\(NetworkPair.farAddress):\(origin.port)"
                // All is well at first.
                try await layover.curl("--fail", url + last.rawValue).succeed()
                try await body(network, layover, origin, url)
                await layover.stop()
            }
        }
    }
}
