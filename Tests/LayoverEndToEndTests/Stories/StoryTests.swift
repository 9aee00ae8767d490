import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The users of the product and the moment in which each of them needs it; the third one is in `SidecarStoryTests`. Each test holds
    /// the figures that its user cares about: the longest wait, failures seen, requests doubled, and what they were told.
    @Suite(.timeLimit(.minutes(3)))
    struct StoryTests {
        private static func seconds(_ work: () async throws -> Void) async rethrows -> Double {
            let clock = ContinuousClock()
            let time = try await clock.measure { try await work() }
            return Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        }

        // MARK: 1. A developer on a train

        @Test func story1ATunnelOnTheTrainFailsNoCommand() async throws {
            guard await NetworkPair.isPermitted(orSkip: "no real network outage") else { return }
            let late = try await smallest(below: 5) { try await NetworkPair.with { try await rideThroughATunnel($0) } }
            #expect(late < 5, "pip needs several requests, one after the other")
        }

        /// - Returns: Seconds from the return of the link to the end of the last command.
        private func rideThroughATunnel(_ network: NetworkPair) async throws -> Double {
            let root = try TemporaryFolder()
            try await Command(Fixtures.path("make_wheel.py"), [root.url.path]).succeed()
            let origin = try await RunningOrigin.start(in: root, address: NetworkPair.farAddress, namespace: network.name(.far))
            // As it comes, without a line of configuration for this.
            let layover = try await RunningLayover.start("{}", namespace: network.name(.near))
            let url = "http://\(NetworkPair.farAddress):\(origin.port)"
            try await layover.curl("--fail", "\(url)/echo?before").succeed()

            try await network.link(.near, up: false)
            try await layover.waitUntilOffline()
            let target = root.file("installed").path
            let pip = layover.client(
                "/usr/bin/python3", "-m", "pip", "install", "--quiet", "--isolated", "--retries", "0", "--no-deps", "--no-cache-dir",
                "--disable-pip-version-check", "--proxy", layover.proxyURL, "--trusted-host", NetworkPair.farAddress,
                "--index-url", "\(url)/simple/", "--target", target, "layover-demo")
            let commands =
                try [pip.start()] + (1...3).map { try layover.curl("--fail", "\(url)/echo?file=\($0)").start() }
                + [layover.curl("--fail", "--data", "review=1", "\(url)/echo?comment").start()]
            let waiting = try await layover.waitForPending("all wait") { $0.waitingCount == commands.count }
            #expect(waiting.data.allSatisfy { $0.waitingFor == "network" || $0.waitingFor == "origin" })
            let words = try await layover.command("explain", try #require(waiting.data.first).id).succeed().output
            #expect(words.contains("Waits until"), "\(words)")
            // This wait also makes the outage long enough: the kernel reports changes of a link only once a second.
            let impatient = try await layover.curl("--max-time", "2.5", "\(url)/echo?impatient").run()
            #expect(impatient.status == 28, "\(impatient)")

            try await network.link(.near, up: true)
            let late = await Self.seconds {
                for command in commands {
                    let result = await command.result()
                    #expect(result.status == 0, "\(result)")
                }
            }
            print("story 1: the last of \(commands.count) commands ended \(late) s after the link was back")
            #expect(FileManager.default.fileExists(atPath: target + "/layover_demo/__init__.py"))
            #expect(origin.records.count { $0.method == "POST" } == 1, "nothing is doubled")
            #expect(Set(origin.records.map(\.target)).count == origin.records.count, "\(origin.requests)")
            return late
        }

        // MARK: 2. A device at the edge

        @Test func story2OrdersSurviveAPowerCutInOrderAndOnce() async throws {
            let late = try await smallest(below: 5) { try await sendOrdersAfterAPowerCut() }
            #expect(late < 5)
        }

        /// - Returns: Seconds from the return of the network to the delivery of the last order.
        private func sendOrdersAfterAPowerCut() async throws -> Double {
            let scene = try await Scene(
                """
                {"policies":{"orders":{"mode":"defer","lane":"field:X-Customer","lifetime":"7d","onMaybeApplied":"ask",
                                       "delay":{"type":"constant","every":"1h","jitter":"none"}}},
                 "limits":{"perOriginAttempts":1},
                 "routes":{"till":{"host":"127.0.0.1","policy":"orders"}}}
                """)
            var tickets: [String] = []
            let photo = String(repeating: "p", count: 300_000)
            tickets.append(try await scene.submit("/echo?photo", "Priority: u=7", body: photo))
            for (customer, order) in [("ada", 1), ("bob", 1), ("ada", 2), ("bob", 2), ("ada", 3)] {
                tickets.append(try await scene.submit("/echo?\(customer)=\(order)", "X-Customer: \(customer)"))
            }
            let second = try await scene.layover.waitForPending { $0.data.count == 6 }.data.first { $0.url.hasSuffix("ada=2") }
            #expect(second?.waitingFor == "lane")
            await scene.layover.kill()

            let again = try await scene.restarted()
            let origin = try await again.startOrigin()
            let late = try await Self.seconds {
                try await again.networkAppears()
                for ticket in tickets { #expect(try await again.layover.ticket(ticket, wait: 20).state == "delivered") }
            }
            print("story 2: the last of \(tickets.count) orders was delivered \(late) s after the network was back")
            let targets = origin.records.map(\.target)
            #expect(targets.count == 6 && Set(targets).count == 6, "none is lost, none is doubled: \(targets)")
            for customer in ["ada", "bob"] {
                let own = targets.filter { $0.contains(customer) }
                #expect(own == own.sorted(), "in order for each customer: \(own)")
            }
            #expect(targets.last == "/echo?photo", "big photos after small orders: \(targets)")
            #expect(origin.records.last?.length == photo.utf8.count)
            return late
        }

        @Test func story2AnOrderThatMayHaveBeenBookedIsAPersonsDecision() async throws {
            let (scene, origin) = try await Scene.withOrigin(#"{"policies":{"default":{"lane":"origin"}}}"#)
            let doubtful = try await scene.submit("/cut?order=1")
            #expect(try await scene.layover.ticket(doubtful, wait: 20).state == "undecided")
            let next = try await scene.submit("/echo?order=2")
            let listing = try await scene.layover.waitForPending { $0.data.contains { $0.waitingFor == "lane" } }
            let blocker = try #require(listing.data.first { $0.state == "undecided" })
            #expect(listing.data.first { $0.waitingFor == "lane" }?.waitingOn == blocker.id, "who waits names who is in the way")
            let words = try await scene.layover.command("incidents").succeed().output
            #expect(words.contains("decision") && !words.contains("no open incidents"), "\(words)")
            #expect(try await scene.command("cancel", doubtful, json: #"{"reason":"seen in the books"}"#).status == 200)
            #expect(try await scene.layover.ticket(next, wait: 20).state == "delivered")
            #expect(origin.requests == ["POST /cut?order=1", "POST /echo?order=2"], "nothing is sent twice")
        }

        // MARK: 4. A team that tests offline behaviour

        @Test func story4OfflineAtACommandWithWordsForEachStep() async throws {
            let late = try await smallest(below: 3) { try await goOfflineAndBack() }
            #expect(late < 3)
        }

        /// - Returns: Seconds from the command that ends the mode to the last response.
        private func goOfflineAndBack() async throws -> Double {
            let (scene, origin) = try await Scene.withOrigin(RunningLayover.noTimedRetries)
            try await scene.layover.command("offline").succeed()
            let clients = try (1...3).map { try scene.layover.curl("--fail", scene.url("/echo?\($0)")).start() }
            let listing = try await scene.layover.waitForPending { $0.waitingCount == 3 }
            #expect(origin.records.isEmpty)
            func id(_ number: Int) throws -> String { try #require(listing.data.first { $0.url.hasSuffix("?\(number)") }).id }
            let list = try await scene.layover.command("pending").succeed().output
            #expect((1...3).allSatisfy { list.contains("/echo?\($0)") }, "\(list)")
            let retried = try await scene.layover.command("retry", try id(1)).succeed().output
            #expect(retried.contains("when the mode is no longer offline"), "\(retried)")
            try await scene.layover.command("cancel", try id(2), "--reason", "not today").succeed()
            #expect(await clients[1].result().status == 22, "curl is told of the 503")
            let words = try await scene.layover.command("explain", try id(3)).succeed().output
            #expect(words.contains("the mode is offline"), "\(words)")
            let late = try await Self.seconds {
                try await scene.layover.command("auto").succeed()
                for client in [clients[0], clients[2]] { #expect(await client.result().status == 0) }
            }
            print("story 4: the last client was served \(late) s after the mode was changed")
            #expect(Set(origin.records.map(\.target)) == ["/echo?1", "/echo?3"] && origin.records.count == 2)
            return late
        }

        // MARK: 5. A client under rate limits

        @Test(arguments: ["GET", "POST"])
        func story5EveryCallGetsItsAnswerAfterTheRightWait(method: String) async throws {
            let layover = try await RunningLayover.start(#"{"routes":{"api":{"host":"127.0.0.1","policy":"ai"}}}"#)
            let port = try ReservedPort()
            struct Paused: Decodable { var id: String }
            let (admin, listens) = (layover.admin, Signal())
            // The pause may be over before the list is read. Its events are read later, too: the stream is open before it begins.
            async let paused = onOwnThread { () -> String in
                let events = try admin.events()
                listens.fire()
                let deadline = Deadline(in: .seconds(45))
                while true {
                    let event = try events.next(by: deadline)
                    if event.name.hasPrefix("request."), event.data.contains(#""waitingFor":"pause""#) {
                        return try JSONDecoder().decode(Paused.self, from: Data(event.data.utf8)).id
                    }
                    if let entry = try admin.pending().data.first(where: { $0.waitingFor == "pause" }) { return entry.id }
                }
            }
            #expect(await listens.happened())
            let herd = Task {
                try await Herd.run(layover, port: port, "--clients 30 --refusals 2 --status 429 --method \(method)")
            }
            let words = try await layover.command("explain", try await paused).run()
            // The pause may be over before the request for it.
            #expect(words.status != 0 || words.output.contains("pause") || words.output.contains("429"), "\(words)")
            let result = try await herd.value
            print("story 5: the longest of 30 waits was \(result.longest) s")
            #expect(result.statuses == ["200": 30], "no caller sees a 429")
            #expect(result.applied == 30 && result.doubled == 0)
            #expect(result.longest > 1 && result.longest < 20)
        }
    }
}
