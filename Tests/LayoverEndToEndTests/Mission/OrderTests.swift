import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The order of what waits: lanes, priorities, dependencies, and the last writer.
    @Suite struct Order {
        private let scene: Scene

        init() async throws { scene = try await Scene(Self.oneByOne) }

        /// One attempt at a time, and none by itself before the network appears.
        private static let oneByOne = """
            {"limits":{"perOriginAttempts":1},
             "policies":{"default":{"delay":{"type":"constant","every":"1h","jitter":"none"}},
                         "last":{"mode":"defer","coalesce":"lastPut","delay":{"type":"constant","every":"1h","jitter":"none"}}}}
            """

        private static func delivered(_ tickets: [String], _ scene: Scene) async throws {
            for ticket in tickets { #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered") }
        }

        @Test func s3fChildIsSentAfterItsParent() async throws {
            let card = try await scene.submit("/echo?card", "Priority: u=7")
            let picture = try await scene.submit("/echo?picture", "Priority: u=0", "Layover-After: \(card)")
            #expect(try await scene.layover.ticket(picture).waitingFor == "parent")
            let again = try await scene.killedAndRestarted()
            let origin = try await again.startOrigin()
            try await again.networkAppears()
            try await Self.delivered([picture, card], again)
            #expect(origin.requests == ["POST /echo?card", "POST /echo?picture"])
        }

        @Test func s3fChildOfADeletedParentIsUndecided() async throws {
            let card = try await scene.submit("/echo?card")
            let picture = try await scene.submit("/echo?picture", "Layover-After: \(card)")
            #expect(try await scene.layover.dropTicket(card).status == 204)
            let view = try await scene.layover.ticket(picture, wait: 20)
            #expect(view.state == "undecided")
            #expect(view.why == "parentFailed")
            let late = try await scene.submit("/echo?late", "Layover-After: \(card)")
            #expect(try await scene.layover.ticket(late, wait: 20).why == "parentFailed")
            let origin = try await scene.startOrigin()
            try await scene.networkAppears()
            #expect(try await scene.command("retry", picture).status == 200)
            try await Self.delivered([picture], scene)
            #expect(origin.requests == ["POST /echo?picture"])
        }

        @Test func s3fChildOfADeliveredParentIsSentAtOnce() async throws {
            let origin = try await scene.startOrigin()
            let card = try await scene.submit("/echo?card")
            try await Self.delivered([card], scene)
            let again = try await scene.killedAndRestarted()
            let picture = try await again.submit("/echo?picture", "Layover-After: \(card)")
            try await Self.delivered([picture], again)
            #expect(origin.requests == ["POST /echo?card", "POST /echo?picture"])
        }

        @Test(arguments: [
            "Layover-After: 00000000000000000000000000000000", "Layover-After: nonsense", "Layover-After: ", "Layover-After: ,",
        ])
        func s3fAnUnknownParentIsRefused(field: String) async throws {
            let response = try await scene.send("POST", "/echo", ["Prefer: respond-async, wait=0", field])
            #expect(response.status == 400, "\(response.text)")
            #expect(try await scene.layover.call("GET", "/v1/pending").text.contains(#""data":[]"#))
        }

        @Test func s3fTicketsAreSentInOrderOfPriority() async throws {
            var tickets: [String] = []
            for (name, urgency) in [("canary", 0), ("picture", 7), ("card", 1), ("text", 3), ("note", 1)] {
                tickets.append(try await scene.submit("/echo?\(name)", "Priority: u=\(urgency)"))
            }
            try await scene.layover.waitForPending("all wait") { $0.waitingCount == 5 }
            let origin = try await scene.startOrigin()
            try await scene.networkAppears()
            try await Self.delivered(tickets, scene)
            #expect(origin.requests.map { $0.split(separator: "?").last ?? "" } == ["canary", "card", "note", "text", "picture"])
        }

        @Test func s3fLaneKeepsItsOrderWithAnyPriorities() async throws {
            var tickets: [String] = []
            for (name, lane, urgency) in [("a1", "a", 7), ("a2", "a", 0), ("b1", "b", 5), ("a3", "a", 3), ("b2", "b", 0)] {
                tickets.append(try await scene.submit("/echo?\(name)", "Layover-Lane: \(lane)", "Priority: u=\(urgency)"))
            }
            let again = try await scene.killedAndRestarted()
            let origin = try await again.startOrigin()
            try await again.networkAppears()
            try await Self.delivered(tickets, again)
            let order = origin.requests.compactMap { $0.split(separator: "?").last.map(String.init) }
            #expect(order.filter { $0.hasPrefix("a") } == ["a1", "a2", "a3"])
            #expect(order.filter { $0.hasPrefix("b") } == ["b1", "b2"])
        }

        @Test func s3hTheLastWriterWins() async throws {
            var tickets: [String] = []
            for version in 1...3 {
                let response = try await scene.send(
                    "PUT", "/echo?card", ["Layover-Policy: last"], body: String(repeating: "x", count: version))
                #expect(response.status == 202)
                tickets.append(try #require(response.ticket))
                try await scene.layover.waitForPending("it waits alone") { $0.data.count == 1 && $0.waitingCount == 1 }
            }
            let other = try #require(try await scene.send("PUT", "/echo?other", ["Layover-Policy: last"]).ticket)
            let guarded = try #require(
                try await scene.send("PUT", "/echo?card", ["Layover-Policy: last", "If-Match: \"1\""], body: "four").ticket)
            let again = try await scene.killedAndRestarted()
            let origin = try await again.startOrigin()
            try await again.networkAppears()
            try await Self.delivered([tickets[2], other, guarded], again)
            for ticket in tickets.prefix(2) { #expect(try await again.layover.ticket(ticket).isFinal) }
            #expect(origin.records.filter { $0.target == "/echo?card" }.map(\.length) == [3, 4])
            #expect(origin.records.count { $0.target == "/echo?other" } == 1)
        }
    }
}
