import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// An unknown name is a final answer while the network is up, and no evidence while the network is away.
    @Suite struct UnknownName {
        /// The final problem of a request to the mistyped name.
        private struct Refusal: Decodable {
            var kind: String
            var phase: String
            var evidence: String
            var detail: String
            var attempts: Int
            var entry: String?
        }

        private static let mistyped = NamedOrigin.mistypedName
        private static let get =
            "GET http://\(mistyped)/echo HTTP/1.1\r\nHost: \(mistyped)\r\nConnection: close\r\n\r\n"
        private static let connect =
            "CONNECT \(mistyped):443 HTTP/1.1\r\nHost: \(mistyped):443\r\nConnection: close\r\n\r\n"

        /// No attempt falls due by itself: a request that is parked here gets no response, and the test fails.
        @Test(arguments: NamedOrigin.ServerPlace.allCases)
        func unknownNameIsRefusedWhileTheNetworkIsUp(place: NamedOrigin.ServerPlace) async throws {
            try await NamedOrigin.run(place, RunningLayover.noTimedRetries) { scene in
                for request in [Self.get, Self.connect] {
                    let begin = ContinuousClock.now
                    let refusal = try Self.refusal(in: try await scene.layover.exchange(request, within: .seconds(60)))
                    print("refused after \(begin.duration(to: .now))")
                    #expect(refusal.attempts == 1)
                    #expect(refusal.entry == nil, "it was never parked")
                }
                try await Self.expectNothingWaits(scene.layover)
                // The same resolver knows the other name: it is this one that is wrong.
                try await scene.layover.curl("--fail", scene.url("/echo?get")).succeed()
                try await scene.layover.curl("--fail", "--proxytunnel", scene.url("/echo?connect")).succeed()
                #expect(scene.origin.records.map(\.target) == ["/echo?get", "/echo?connect"])
            }
        }

        /// No attempt falls due by itself: what ends the wait is the monitor that saw the link.
        @Test(arguments: NetworkPair.Side.allCases, NamedOrigin.ServerPlace.allCases)
        func unknownNameIsParkedWhileTheNetworkIsAway(
            side: NetworkPair.Side, place: NamedOrigin.ServerPlace
        ) async throws {
            try await NamedOrigin.run(place, RunningLayover.noTimedRetries) { scene in
                let layover = scene.layover
                // Addresses from an earlier lookup must not hide the outage.
                try await layover.curl("--fail", scene.url("/echo?before")).succeed()
                try await scene.goAway(side)
                let good = try Self.startGoodClients(of: scene)
                async let getAnswer = layover.exchange(Self.get, within: .seconds(120))
                async let connectAnswer = layover.exchange(Self.connect, within: .seconds(120))
                let pending = try await Self.waitUntilParked(4, in: layover, place.wordInOutage)
                try await Self.expectOneIncidentOfTheNetwork(layover, waiting: 4)
                try await scene.comeBack(side)
                try await Self.expectDelivery(to: good)
                for (method, answer) in [("GET", try await getAnswer), ("CONNECT", try await connectAnswer)] {
                    try Self.expectRefusal(answer, afterWaitingAs: method, in: pending)
                }
                try await Self.expectNothingWaits(layover)
                #expect(Set(scene.origin.records.map(\.target)) == ["/echo?before", "/echo?connect", "/echo?get"])
                #expect(scene.origin.records.count == 3)
            }
        }

        /// The link is up, so the network counts as there; but nobody has said that the name does not exist.
        @Test(arguments: NamedOrigin.ServerPlace.allCases)
        func unknownNameIsParkedWhileNoNameServerAnswers(place: NamedOrigin.ServerPlace) async throws {
            try await NamedOrigin.run(place, RunningLayover.quickRetries) { scene in
                await scene.nameServer.kill()
                let good = try Self.startGoodClients(of: scene)
                async let answer = scene.layover.exchange(Self.get, within: .seconds(120))
                let pending = try await Self.waitUntilParked(3, in: scene.layover, "no resolver answered")
                try await scene.restartNameServer()
                try await Self.expectDelivery(to: good)
                try Self.expectRefusal(await answer, afterWaitingAs: "GET", in: pending)
                try await Self.expectNothingWaits(scene.layover)
                #expect(Set(scene.origin.records.map(\.target)) == ["/echo?connect", "/echo?get"])
            }
        }

        // MARK: Parts

        /// To the name that exists, when its resolver does: plain, and through a tunnel.
        private static func startGoodClients(of scene: NamedOrigin) throws -> [RunningProcess] {
            [
                try scene.layover.curl("--fail", scene.url("/echo?get")).start(),
                try scene.layover.curl("--fail", "--proxytunnel", scene.url("/echo?connect")).start(),
            ]
        }

        private static func waitUntilParked(
            _ count: Int, in layover: RunningLayover, _ word: String
        ) async throws -> PendingListing {
            let pending = try await layover.waitForPending("\(count) requests wait: \(word)", within: .seconds(60)) {
                $0.data.count == count && $0.data.allSatisfy { $0.lastFailure?.message.contains(word) == true }
            }
            for failure in pending.data.compactMap(\.lastFailure) {
                #expect((failure.kind, failure.phase, failure.evidence) == ("dns_error", "resolving", "neverSent"))
            }
            return pending
        }

        private static func expectOneIncidentOfTheNetwork(_ layover: RunningLayover, waiting count: Int) async throws {
            let incidents = try await layover.incidents()
            #expect(incidents.map(\.scope) == ["network"])
            #expect(incidents.first?.waiting == count)
            #expect(incidents.first?.cause?.kind == "dns_error")
            #expect(incidents.first?.cause?.phase == "resolving")
        }

        private static func expectDelivery(to clients: [RunningProcess]) async throws {
            for client in clients {
                let result = await client.result()
                #expect(result.status == 0, "\(result)")
            }
        }

        private static func expectRefusal(
            _ answer: PlainResponse, afterWaitingAs method: String, in pending: PendingListing
        ) throws {
            let refusal = try refusal(in: answer)
            let entry = try #require(pending.data.first { $0.method == method && $0.url.contains(mistyped) })
            #expect(refusal.entry == entry.id)
            #expect(refusal.attempts > entry.attempts)
            #expect(!refusal.detail.contains("parked"), "it was: \(refusal.detail)")
        }

        /// A refusal for no other reason than the name.
        private static func refusal(in answer: PlainResponse) throws -> Refusal {
            #expect(answer.status == 502, "\(answer.head)")
            #expect(answer.field("Proxy-Status")?.hasPrefix("layover; error=dns_error;") == true, "\(answer.head)")
            #expect(answer.field("Content-Type") == "application/problem+json")
            let refusal = try JSONDecoder().decode(Refusal.self, from: answer.body)
            #expect((refusal.kind, refusal.phase, refusal.evidence) == ("dns_error", "resolving", "neverSent"))
            #expect(refusal.detail.hasPrefix("The name \(mistyped) does not exist."), "\(refusal.detail)")
            return refusal
        }

        private static func expectNothingWaits(_ layover: RunningLayover) async throws {
            let pending = try await layover.waitForPending("nothing waits any more") { $0.data.isEmpty }
            #expect(pending.counts.values.allSatisfy { $0 == 0 }, "\(pending)")
            #expect(try await layover.incidents().isEmpty)
        }
    }
}
