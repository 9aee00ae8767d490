import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// SIGTERM while tickets are being sent.
    @Suite struct Stop {
        private static let count = 30

        /// The response is on disk before the process ends.
        @Test func everyResponseThatArrivedIsOnDisk() async throws {
            let (scene, origin) = try await Self.underWay()
            try await eventually("a response") { try origin.events().contains { if case .answered = $0 { true } else { false } } }
            let ending = await scene.layover.stop()
            #expect(ending.status == 0, "\(ending)")
            let facts = try await StoreFacts.read(in: scene.folder)
            let arrivals = try origin.events().count { event in if case .head = event { true } else { false } }
            #expect(facts.states["delivered"] == arrivals, "\(facts)")
            #expect((facts.states["delivered"] ?? 0) + (facts.states["waiting"] ?? 0) == Self.count, "\(facts)")
        }

        /// A ticket that is cut off continues in the next run, or is undecided; it is never dropped.
        @Test func cutOffResponseIsKept() async throws {
            let (scene, origin) = try await Self.underWay(environment: ["LAYOVER_TIMEOUTS_DRAIN": "1ms"])
            let ending = await scene.layover.stop()
            #expect(ending.status == 0, "\(ending)")
            let facts = try await StoreFacts.read(in: scene.folder)
            #expect(facts.states.keys.allSatisfy { ["delivered", "waiting", "undecided"].contains($0) }, "\(facts)")
            #expect(facts.states.values.reduce(0, +) == Self.count)
            let again = try await scene.restarted()
            let before = try origin.events().count
            try await again.layover.waitForPending("only questions are left") { $0.data.allSatisfy { $0.state == "undecided" } }
            #expect(try origin.events().count >= before)
            // The bytes of an attempt that was cut off may lie in the kernel for as long as the origin gets no processor.
            for number in 0..<Self.count {
                try await eventually("order-\(number) arrives") { try origin.arrivals(of: "order-\(number)") > 0 }
            }
            for number in 0..<Self.count { #expect(try origin.arrivals(of: "order-\(number)") == 1) }
        }

        /// Tickets of which some have been answered and more are still to be sent.
        private static func underWay(environment: [String: String] = [:]) async throws -> (DurableScene, RecordingOrigin) {
            let scene = try await DurableScene(environment: environment)
            let origin = try await scene.startOrigin()
            for number in 0..<count {
                let response = try await scene.send("order-\(number)", "Prefer: respond-async, wait=0", "X-Trouble: slow")
                try #require(response.status == 202, "\(response)")
            }
            return (scene, origin)
        }
    }
}
