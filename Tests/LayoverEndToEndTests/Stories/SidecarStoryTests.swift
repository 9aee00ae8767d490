import LayoverTestSupport
import Testing

extension EndToEnd {
    /// A service beside its sidecar: the dependency restarts, requests wait, and the returning server is not trampled.
    @Suite(.timeLimit(.minutes(2)))
    struct SidecarStoryTests {
        private func layover(_ policy: String) async throws -> RunningLayover {
            try await RunningLayover.start(#"{"routes":{"dependency":{"host":"127.0.0.1","policy":"\#(policy)"}}}"#)
        }

        /// Five jittered attempts were used up within four seconds; 25 of 200 clients got a 504, and the last was answered 22.5 s after
        /// the dependency was back.
        @Test func story3EveryClientIsServedWithinTwoSecondsOfTheReturn() async throws {
            let late = try await smallest(below: 2) {
                let port = try ReservedPort()
                let herd = try await Herd.run(try await layover("sidecar"), port: port, "--clients 200 --over 4 --away 8")
                #expect(herd.statuses == ["200": 200])
                #expect(herd.applied == 200 && herd.doubled == 0)
                return herd.late
            }
            #expect(late < 2)
        }

        /// Three fast requests waited 16 s for the slow one that tested the way.
        @Test func slowCanaryKeepsNoRequestWaiting() async throws {
            let late = try await smallest(below: 3) {
                let port = try ReservedPort()
                let herd = try await Herd.run(
                    try await layover("default"), port: port, "--clients 4 --over 1 --away 3 --slow 6 --paths /slow,/fast,/fast,/fast")
                #expect(herd.statuses == ["200": 4])
                #expect(herd.longest > 6)
                return herd.late
            }
            #expect(late < 3)
        }

        /// Limiters refuse before they process, so a POST waits too.
        @Test(arguments: ["ratelimited", "ai"])
        func refusedPOSTWaitsAndIsDelivered(policy: String) async throws {
            let port = try ReservedPort()
            let herd = try await Herd.run(
                try await layover(policy), port: port, "--clients 3 --method POST --refusals 1 --status 429")
            #expect(herd.statuses == ["200": 3])
            #expect(herd.applied == 3 && herd.doubled == 0 && herd.longest >= 1)
        }

        /// 47 to 57 of 60 clients were handed the 503.
        @Test(arguments: ["ratelimited", "sidecar"])
        func noClientGetsThe503OfABusyServer(policy: String) async throws {
            let port = try ReservedPort()
            let herd = try await Herd.run(try await layover(policy), port: port, "--clients 60 --refusals 2 --status 503")
            #expect(herd.statuses == ["200": 60])
            #expect(herd.applied == 60 && herd.doubled == 0 && herd.longest < 25)
        }

        @Test func unavailableServerThatMayHaveActedIsNotAskedTwiceForAPOST() async throws {
            let port = try ReservedPort()
            let herd = try await Herd.run(
                try await layover("ratelimited"), port: port, "--clients 3 --method POST --refusals 1 --status 503")
            #expect(herd.statuses == ["503": 3] && herd.applied == 0)
        }
    }
}
