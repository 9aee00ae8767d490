import LayoverAdmin
import LayoverCore
import LayoverEngine
import Logging
import NIOPosix
import ServiceLifecycle
import Synchronization
import Testing

@testable import layover

/// An admin API that listens, over a real engine.
struct LiveAdmin {
    let engine: Engine
    let url: String
    let stop: @Sendable () async -> Void

    @TaskLocal static var current: LiveAdmin?

    static func with(
        token: Secret? = nil, heartbeat: Duration = .seconds(15), limits: PendingLimits = .init(),
        sources change: (inout AdminSources) -> Void = { _ in },
        _ test: (LiveAdmin) async throws -> Void
    ) async throws {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let clock = SystemClock()
        let engine = Engine(
            eventLoop: loops.next(), limits: limits, reachability: Reachability(hasProbe: false, now: clock.now()),
            logger: logger)
        var options = AdminOptions()
        options.port = 0
        options.token = token
        options.heartbeat = heartbeat
        var sources = AdminSources(engine: engine)
        sources.proxyURLs = { ["http://127.0.0.1:18080"] }
        change(&sources)
        let (ports, found) = AsyncStream<Int>.makeStream()
        let service = AdminService(options: options, sources: sources, logger: logger) { found.yield($0) }
        let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: logger))
        let running = Task {
            defer { found.finish() }
            try await group.run()
        }
        for await port in ports {
            let admin = LiveAdmin(
                engine: engine, url: "http://127.0.0.1:\(port)",
                stop: { await group.triggerGracefulShutdown() })
            do {
                try await test(admin)
            } catch {
                await group.triggerGracefulShutdown()
                _ = try? await running.value
                throw error
            }
            await group.triggerGracefulShutdown()
            break
        }
        try await running.value
        try await loops.shutdownGracefully()
    }

    func client(token: Secret? = nil) throws -> AdminClient {
        AdminClient(address: try AdminAddress(url), token: token)
    }

    /// A document of the API.
    func get<Document: Decodable>(_ path: String) async throws -> Document {
        try await client().send(AdminCall(path)).decoded(Document.self)
    }

    /// The lines of `layover status`.
    func status() async throws -> [String] { Status.lines(try await get("/v1/status"), .plain) }

    func entry(_ id: EntryID) async throws -> EntryDocument { try await get("/v1/pending/\(id)") }

    /// Parks a request.
    ///
    /// - Parameter whenEnded: Called at its end, on the loop of the engine.
    @discardableResult
    func park(
        _ number: UInt64, host: String = "shop.example", failure: Failure = .refused,
        parking: Verdict.Parking = .init(delay: .seconds(600), shutsGate: false), whenEnded: @escaping @Sendable () -> Void = {}
    ) -> EntryID {
        let id = Self.id(number)
        let now = engine.clock.now()
        engine.post(
            ParkRequested(
                NewEntry(
                    id: id, method: "GET", url: "http://\(host)/cart", origin: Origin(scheme: .http, host: host),
                    client: .init(address: "127.0.0.1:5"), createdAt: now, attemptCount: 1,
                    attempts: [Self.record(failure, parking, at: now)], failure: failure, parking: parking)),
            from: SilentExchange(whenEnded: whenEnded))
        return id
    }

    /// Parks a request that may have been applied, so that a person has to decide.
    @discardableResult
    func parkUndecided(_ number: UInt64) -> EntryID {
        park(
            number,
            failure: Failure(
                phase: .awaitingResponse, kind: .connectionTerminated, evidence: .maybeApplied,
                message: "The connection closed before an answer came.", curlCode: 52, bytesSent: 180,
                localAddress: "127.0.0.1:40000", remoteAddress: "192.0.2.1:80"),
            parking: .init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .onMaybeApplied))
    }

    private static func record(
        _ failure: Failure, _ parking: Verdict.Parking, at time: Timestamp
    ) -> AttemptRecord {
        var record = AttemptRecord(number: 1, trigger: .arrival, startedAt: time)
        record.endedAt = time + .milliseconds(12)
        record.failure = failure
        record.verdict = .park(parking)
        return record
    }

    /// An id whose first digits are the number's.
    static func id(_ number: UInt64) -> EntryID {
        EntryID(String((String(number, radix: 16) + String(repeating: "0", count: 32)).prefix(32)))!
    }
}

/// The admin API of a test with the trait `liveAdmin`.
var admin: LiveAdmin { LiveAdmin.current! }

/// Gives each test, or each of its cases, an admin API of its own.
struct LiveAdminScope: TestTrait, TestScoping {
    var token: Secret?
    var heartbeat = Duration.seconds(15)
    var limits = PendingLimits()
    var sources: @Sendable (inout AdminSources) -> Void = { _ in }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> LiveAdminScope? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await LiveAdmin.with(token: token, heartbeat: heartbeat, limits: limits, sources: sources) { admin in
            try await LiveAdmin.$current.withValue(admin) { try await function() }
        }
    }
}

extension Trait where Self == LiveAdminScope {
    static var liveAdmin: LiveAdminScope { LiveAdminScope() }

    static func liveAdmin(
        token: Secret? = nil, heartbeat: Duration = .seconds(15), limits: PendingLimits = PendingLimits(),
        sources: @escaping @Sendable (inout AdminSources) -> Void = { _ in }
    ) -> LiveAdminScope {
        LiveAdminScope(token: token, heartbeat: heartbeat, limits: limits, sources: sources)
    }
}

extension Failure {
    static let refused = Failure(
        phase: .connecting, kind: .connectionRefused, evidence: .neverSent, message: "Connection refused.")
}

/// A held exchange that does as it is told and says nothing.
private final class SilentExchange: HeldExchange {
    private let whenEnded: @Sendable () -> Void

    init(whenEnded: @escaping @Sendable () -> Void) { self.whenEnded = whenEnded }

    func start(_ trigger: AttemptTrigger, isForced: Bool) {}
    func abandonConnecting() {}
    func abortAttempt(isCommanded: Bool) {}
    func dropResponse() {}
    func deliverResponse(_ reason: Verdict.DeliverReason) {}
    func end(_ end: EntryEnd, retryAfter: Duration?) { whenEnded() }
    func lookForOthers() {}
    func offerTicket() {}
    func refuse(limit: String, value: Int) {}
}
