import Foundation
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverSystem
import LayoverTestSupport
import NIOCore
import NIOPosix
import Testing

@testable import LayoverProxy

/// Clients of a proxy that has users.
struct UserTests {
    private static let bcrypt = #"$2b$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."#
    private static let answers: @Sendable (ScriptedAttempt) -> Void = { $0.respondOnceSent(200, ["Content-Length: 2"], body: "ok") }
    /// me:secret
    private static let right = "Proxy-Authorization: Basic bWU6c2VjcmV0"

    private func withUsers(
        _ script: @escaping @Sendable (ScriptedAttempt) -> Void = answers, tickets: TestStore? = nil, threads: NIOThreadPool? = nil,
        configuration change: (inout ProxyConfiguration) -> Void = { _ in },
        _ test: (TestProxy) async throws -> Void
    ) async throws {
        let checks = try PasswordChecks(threads: threads)
        let hash = try PasswordHash(Self.bcrypt)
        try await withProxy(
            script: script, tickets: tickets,
            configuration: {
                $0.users = ["me": hash, "you": hash]
                change(&$0)
            }
        ) { proxy in
            try await proxy.loop.use(checks).get()
            try await test(proxy)
        }
    }

    private func count(of user: String, _ proxy: TestProxy) -> Int? {
        proxy.loop.metrics.users.first { $0.name == user }?.requestCount.current
    }

    @Test func userIsLetInAndTheCredentialIsNotPassedOn() async throws {
        try await withUsers { proxy in
            let client = try await proxy.connect()
            for _ in 1...3 {
                try await client.send(.get("/", Self.right))
                #expect(try await client.answer().status == 200)
                let attempt = try await proxy.nextAttempt()
                #expect(!attempt.fields.contains { $0.lowercased().hasPrefix("proxy-authorization") })
            }
            #expect(count(of: "me", proxy) == 3)
            #expect(count(of: "you", proxy) == 0)
        }
    }

    @Test(arguments: [
        [], ["Proxy-Authorization: Basic bWU6d3Jvbmc="], ["Proxy-Authorization: Basic bm9ib2R5OnNlY3JldA=="],
        ["Proxy-Authorization: Basic"],
        ["Proxy-Authorization: Basic !!!!"], ["Proxy-Authorization: Basic bWU="], ["Proxy-Authorization: Bearer bWU6c2VjcmV0"],
        [right, right],
        ["Authorization: Basic bWU6c2VjcmV0"], ["Proxy-Authorization: Basic OnNlY3JldA=="], ["Proxy-Authorization: Basic bWU6c2VjcmV0AA=="],
    ])
    func requestsWithoutAValidUserGetA407(fields: [String]) async throws {
        try await withUsers { proxy in
            let client = try await proxy.connect()
            for _ in 1...2 {
                try await client.send("GET http://o.test/ HTTP/1.1\r\nHost: o.test\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
                let response = try await client.answer().expectProblem(407, "proxy_authentication_required")
                #expect(response.fields.contains { $0.lowercased().hasPrefix("proxy-authenticate: basic realm=") })
            }
            #expect(proxy.upstream.startedCount == 0)
            #expect(proxy.loop.metrics.unauthenticatedRequestCount.current == 2)
        }
    }

    @Test func requestsBehindOneThatIsCheckedKeepTheirOrder() async throws {
        try await withUsers({ $0.respondOnceSent(200, ["Content-Length: \($0.request.target.utf8.count)"], body: $0.request.target) }) {
            proxy in
            let client = try await proxy.connect()
            let post = "POST http://o.test/2 HTTP/1.1\r\nHost: o.test\r\n\(Self.right)\r\nContent-Length: 3\r\n\r\nabc"
            try await client.send(.get("/1", Self.right) + post + .get("/3", Self.right))
            for target in ["/1", "/2", "/3"] { #expect(try await client.answer().body == target) }
        }
    }

    /// It is refused when its end has come, within the call that plans it; the connection begins the next one at once.
    @Test(arguments: [
        "DELETE http://o.test/%7Eticket.no%7E HTTP/1.1\r\nHost: o.test\r\nPrefer: respond-async\r\n\(right)\r\n\r\n",
        .submission("/", body: #"["~ticket.no~"]"#, "Content-Type: application/json", "Prefer: respond-async, wait=60", right),
    ])
    func refusalBehindACheckLeavesTheNextRequestAlone(refused: String) async throws {
        try await withUsers(tickets: TestStore()) { proxy in
            let client = try await proxy.connect()
            try await client.send(refused + .get("/2", Self.right))
            try await client.answer().expectProblem(400, "token")
            #expect(try await client.answer().status == 200)
        }
    }

    @Test func clientThatLeavesWhileItIsCheckedIsForgotten() async throws {
        try await withUsers { proxy in
            let client = try await proxy.client(sending: .get("/", Self.right))
            client.close()
            try await ConnectionTests.waitForNoConnection(proxy)
        }
    }

    @Test func connectIsAskedForAUserToo() async throws {
        try await withUsers { proxy async throws in
            #expect(try await proxy.answer(to: "CONNECT o.test:443 HTTP/1.1\r\nHost: o.test:443\r\n\r\n").status == 407)
            #expect(proxy.upstream.startedCount == 0)
        }
    }

    /// The key of a route and the address of a ticket are secrets themselves, and programs that use them can give no other.
    @Test func secretPathsNeedNoUser() async throws {
        try await withUsers(configuration: {
            var keyed = Route(name: "keyed", policy: .standard)
            keyed.upstream = .init(origin: Origin(scheme: .http, host: "api.test"), basePath: "")
            keyed.key = "k3y"
            var open = keyed
            open.name = "open"
            open.key = nil
            $0.routes = RouteTable(routes: [keyed, open])
        }) { proxy async throws in
            let cases = [
                ("/.layover/route/keyed/~k3y/a", [], 200), ("/.layover/route/keyed/~other/a", [], 403), ("/.layover/route/open/a", [], 407),
                ("/.layover/route/open/a", [Self.right], 200), ("/.layover/tickets/0", [], 404), ("/", [], 407),
            ]
            for (path, fields, status) in cases {
                #expect(try await proxy.answer(to: .own("GET", path, fields)).status == status, "\(path)")
            }
        }
    }

    /// The second request of a user whose password was changed meanwhile is the same order.
    @Test func keyOfARequestBelongsToItsUserWhateverTheCredential() async throws {
        func key(_ fields: [String], _ proxy: TestProxy) async throws -> [UInt8]? {
            try await proxy.loop.eventLoop.submit {
                let planner = proxy.loop.planner
                var decoder = RequestDecoder(limits: FramingLimits())
                var bytes = ByteBuffer(
                    string: (["GET http://o.test/ HTTP/1.1", "Host: o.test", "Idempotency-Key: 1"] + fields).map { $0 + "\r\n" }.joined()
                        + "\r\n")
                guard case .head(let head)? = try decoder.next(&bytes) else { return nil }
                let request = UpstreamRequest(
                    purpose: .transfer, origin: Origin(scheme: .http, host: "o.test"), method: "GET", target: "/", host: "o.test",
                    fields: [:],
                    mayBeSentTwice: true)
                return try planner.digest(of: head, request, nil)?.key
            }.get()
        }
        try await withUsers { proxy in
            let me = try await key([Self.right], proxy)
            #expect(try await key(["Proxy-Authorization: Basic bWU6bmV3"], proxy) == me)
            #expect(try await key(["Proxy-Authorization: Basic eW91OnNlY3JldA=="], proxy) != me)
            #expect(try await key([], proxy) != me)
        }
    }

    @Test func reloadChangesTheUsersOfOpenConnections() async throws {
        try await withUsers { proxy in
            let client = try await proxy.client(sending: .get("/", Self.right))
            #expect(try await client.answer().status == 200)
            try await proxy.reload { $0.users["me"] = nil }
            try await client.send(.get("/", Self.right))
            #expect(try await client.answer().status == 407)
            #expect(proxy.loop.metrics.users.map(\.name) == ["you"])
            try await proxy.reload { $0.users = [:] }
            try await client.send(.get("/"))
            #expect(try await client.answer().status == 200)
        }
    }

    /// While others are checked, which takes long: they are checked elsewhere, and this loop answers.
    @Test func resultOfACheckIsRemembered() async throws {
        let threads = CheckThreads()
        defer { threads.end() }
        try await withUsers(threads: threads.pool) { proxy in
            let wrong = "Proxy-Authorization: Basic bWU6d3Jvbmc="
            func status(_ field: String) async throws -> Int {
                try await proxy.client(sending: .get("/", field)).answer().status
            }
            #expect(try await status(Self.right) == 200)
            #expect(try await status(wrong) == 407)
            threads.standStill()
            // you:1 to you:4
            var guessing: [RawClient] = []
            for guess in ["eW91OjE=", "eW91OjI=", "eW91OjM=", "eW91OjQ="] {
                guessing.append(try await proxy.client(sending: .get("/", "Proxy-Authorization: Basic \(guess)")))
            }
            try await proxy.waitForRequests(2 + guessing.count)
            #expect(try await status(Self.right) == 200)
            #expect(try await status(wrong) == 407)
            #expect(guessing.allSatisfy { $0.received.value.totalCount == 0 }, "a check that is remembered did not wait behind theirs")
            threads.goOn()
            for client in guessing { #expect(try await client.answer().status == 407) }
        }
    }

    /// The user is not remembered yet, and six connections from the same address guess without a pause.
    @Test func guessesDoNotRefuseOtherUsers() async throws {
        let slow = try PasswordHash(Self.bcrypt.replacing("$04$", with: "$10$"))
        let fast = try PasswordHash(Self.bcrypt)
        try await withUsers(configuration: { $0.users = ["me": fast, "you": slow] }) { proxy in
            var guessing: [RawClient] = []
            // you:1 to you:6
            for guess in ["eW91OjE=", "eW91OjI=", "eW91OjM=", "eW91OjQ=", "eW91OjU=", "eW91OjY="] {
                guessing.append(try await proxy.client(sending: .get("/", "Proxy-Authorization: Basic \(guess)")))
            }
            try await proxy.settle()
            #expect(try await proxy.client(sending: .get("/", Self.right)).answer().status == 200)
            for client in guessing { #expect(try await client.answer().status == 407) }
        }
    }

    @Test func refusalIsDelayedAfterSomeWrongPasswords() async throws {
        try await withUsers { proxy in
            let client = try await proxy.connect()
            var last = Duration.zero
            for guess in ["bWU6MQ==", "bWU6Mg==", "bWU6Mw==", "bWU6NA=="] {
                let start = ContinuousClock.now
                try await client.send(.get("/", "Proxy-Authorization: Basic \(guess)"))
                #expect(try await client.answer().status == 407)
                last = ContinuousClock.now - start
            }
            #expect(last >= FailedGuesses.delayInitial)
            // The right one does not wait for it, and the connection goes on.
            try await client.send(.get("/", Self.right))
            #expect(try await client.answer().status == 200)
        }
    }

    /// A reload gives the user another password while a check against the old one runs.
    @Test func checkAgainstAnotherHashIsNotShared() async throws {
        let slow = try PasswordHash(Self.bcrypt.replacing("$04$", with: "$11$"))
        let checks = try PasswordChecks()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let credential = try #require(ProxyCredential("Basic bWU6c2VjcmV0", key: checks.key))
        let old = checks.check(credential, against: slow, from: "a", on: loop)
        let new = checks.check(credential, against: try PasswordHash(Self.bcrypt), from: "a", on: loop)
        #expect(try await new.get())
        #expect(try await !old.get(), "the salt fits another cost")
    }

    @Test func checksOfOneAddressAreLimitedAndEqualOnesShareOne() async throws {
        let threads = CheckThreads()
        defer { threads.end() }
        // The first two do not end before the others have come.
        threads.standStill()
        let hash = try PasswordHash(Self.bcrypt)
        let checks = try PasswordChecks(threads: threads.pool)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        func check(_ number: Int, from address: String) throws -> EventLoopFuture<Bool> {
            let credential = try #require(ProxyCredential("Basic " + Data("a:\(number)".utf8).base64EncodedString(), key: checks.key))
            return checks.check(credential, against: hash, from: address, on: loop)
        }
        let all = CheckQueue<Int>.countPerAddressMax + PasswordChecks.runningMax
        var running: [EventLoopFuture<Bool>] = []
        for number in 0..<all { running.append(try check(number, from: "guess")) }
        let refused = try check(all, from: "guess")
        await #expect(throws: PasswordChecks.Busy.self) { try await refused.get() }
        running.append(try check(0, from: "guess"))
        let other = try check(-1, from: "other")
        threads.goOn()
        #expect(try await other.get() == false)
        for future in running { #expect(try await future.get() == false) }
    }

    @Test func addressesTakeTurns() {
        var queue = CheckQueue<Int>()
        let countMax = CheckQueue<Int>.countPerAddressMax
        let accepted = (0...countMax).map { queue.add($0, from: "guess") }
        #expect(accepted == Array(repeating: true, count: countMax) + [false])
        var order = [queue.next()?.work]
        let others = [100, 101].map { queue.add($0, from: "other") }
        #expect(others == [true, true])
        // No check of the other address runs, so that address is next.
        order += [queue.next()?.work, queue.next()?.work]
        queue.finished(from: "other")
        order += [queue.next()?.work, queue.next()?.work]
        #expect(order == [0, 100, 1, 101, 2])
        #expect(queue.count == countMax - 3)
    }

    @Test func waitingChecksAreLimitedInAll() {
        var queue = CheckQueue<Int>()
        let all = Array(0..<CheckQueue<Int>.countMax)
        let accepted = all.map { queue.add($0, from: "\($0)") }
        #expect(accepted == all.map { _ in true })
        let isAccepted = queue.add(0, from: "another")
        #expect(!isAccepted)
        let order = all.map { _ in queue.next()?.work }
        #expect(order == all)
        let isEmpty = queue.next() == nil
        #expect(isEmpty && queue.count == 0)
    }
}

/// Threads for `PasswordChecks`, which a test can stop once.
private final class CheckThreads: Sendable {
    let pool = NIOThreadPool(numberOfThreads: PasswordChecks.runningMax)
    private let isOver = Signal()

    init() { pool.start() }

    /// No check is made from now on.
    func standStill() {
        for _ in 0..<PasswordChecks.runningMax { pool.submit { [isOver] _ in isOver.block() } }
    }

    func goOn() { isOver.fire() }

    func end() {
        goOn()
        pool.shutdownGracefully { _ in }
    }
}
