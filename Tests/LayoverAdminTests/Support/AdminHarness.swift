import HTTPTypes
import Hummingbird
import LayoverCore
import LayoverEngine
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import Retry
import Synchronization

@testable import LayoverAdmin

extension AdminOptions {
    /// The defaults with a change.
    static func with(_ change: (inout AdminOptions) -> Void) -> AdminOptions {
        var options = AdminOptions()
        change(&options)
        return options
    }
}

/// The admin API over a real engine, without sockets.
struct AdminHarness {
    let engine: Engine
    let sources: AdminSources
    let responder: AdminResponder

    init(
        options: AdminOptions = AdminOptions(), clock: any EngineClock = FixedClock(),
        limits: PendingLimits = PendingLimits(), store: (any PendingStore)? = nil,
        naming: EntryNaming = .plain,
        sources change: (inout AdminSources) -> Void = { _ in }
    ) {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        // The loop outlives the test: a stream of events that its reader has left may still be about to ask the engine.
        engine = Engine(
            eventLoop: MultiThreadedEventLoopGroup.singleton.any(), clock: clock, limits: limits,
            reachability: Reachability(hasProbe: false, now: clock.now()), store: store,
            naming: naming, logger: logger)
        var sources = AdminSources(engine: engine)
        // Refusals of wrong tokens come at once, unless a test wants to see the delays.
        sources.pause = { _ in }
        change(&sources)
        self.sources = sources
        responder = AdminResponder(options: options, sources: sources)
    }

    // MARK: Entries

    /// Parks a request whose origin refuses connections.
    @discardableResult
    func park(
        _ number: UInt64, method: String = "GET", url: String = "http://shop.example/cart",
        host: String = "shop.example", failure: Failure? = .refused,
        parking: Verdict.Parking = .init(delay: .seconds(30), shutsGate: true), policy: Policy = .standard,
        automaticLeft: Int? = nil, attempts: [AttemptRecord] = [], body: HeldBody? = nil,
        resume: ResumeProgress? = nil
    ) -> (id: EntryID, exchange: RecordingExchange) {
        let exchange = RecordingExchange(body: body)
        let id = Self.id(number)
        var new = NewEntry(
            id: id, method: method, url: url, origin: Origin(scheme: .http, host: host), policy: policy,
            client: .init(address: "127.0.0.1:5", userAgent: "curl/8"), createdAt: Timestamp(nanoseconds: 4_000_000_000 + Int64(number)),
            attemptCount: failure == nil ? 0 : 1, automaticLeft: automaticLeft, requestByteCount: 12, attempts: attempts,
            failure: failure, parking: parking)
        new.tally.resume = resume
        engine.post(ParkRequested(new), from: exchange)
        return (id, exchange)
    }

    /// Parks a request that may have been applied, so that a person has to decide.
    @discardableResult
    func parkUndecided(_ number: UInt64) -> (id: EntryID, exchange: RecordingExchange) {
        park(
            number, method: "POST", failure: .terminated,
            parking: .init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .onMaybeApplied))
    }

    /// A policy whose first canary goes after half a minute, without jitter.
    static var patient: Policy {
        var policy = Policy(name: "patient")
        policy.delay = DelaySchedule(.constant(.seconds(30)), jitter: .none)
        return policy
    }

    static func id(_ number: UInt64) -> EntryID {
        var generator = FixedGenerator(low: number)
        return EntryID(using: &generator)
    }

    // MARK: Requests

    func send(
        _ method: String, _ path: String, host: String? = "localhost:8081",
        fields: [String: String] = [:], body: String? = nil
    ) async throws -> Answer {
        let response = try await respond(method, path, host: host, fields: fields, body: body)
        let writer = CollectingWriter()
        try await response.body.write(writer)
        return Answer(status: response.status.code, fields: response.headers, text: writer.text)
    }

    /// As a program would, with a JSON body.
    func post(_ path: String, _ body: String = "{}", fields: [String: String] = [:]) async throws -> Answer {
        var fields = fields
        fields["Content-Type"] = "application/json"
        return try await send("POST", path, fields: fields, body: body)
    }

    /// The response before its body is written.
    func respond(
        _ method: String, _ path: String, host: String? = "localhost:8081",
        fields: [String: String] = [:], body: String? = nil
    ) async throws -> Response {
        var head = HTTPRequest(
            method: HTTPRequest.Method(method)!, scheme: "http", authority: host, path: path)
        for (name, value) in fields {
            head.headerFields.append(HTTPField(name: HTTPField.Name(name)!, value: value))
        }
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
        let source = ApplicationRequestContextSource(
            channel: EmbeddedChannel(), logger: Logger(label: "test"))
        return try await responder.respond(to: request, context: AdminContext(source: source))
    }
}

/// Gives 0 and then always the same number, so that an id shows which entry it is.
private struct FixedGenerator: RandomNumberGenerator {
    let low: UInt64
    private var isSecond = false

    init(low: UInt64) { self.low = low }

    mutating func next() -> UInt64 {
        defer { isSecond = true }
        return isSecond ? low : 0
    }
}

/// Keeps what a response body writes.
final class CollectingWriter: ResponseBodyWriter, Sendable {
    private let bytes = Mutex(ByteBuffer())
    private let watcher: AsyncStream<String>.Continuation?

    init(watcher: AsyncStream<String>.Continuation? = nil) { self.watcher = watcher }

    var text: String { bytes.withLock { String(buffer: $0) } }

    func write(_ buffer: ByteBuffer) async throws {
        _ = bytes.withLock { $0.writeImmutableBuffer(buffer) }
        watcher?.yield(String(buffer: buffer))
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws { watcher?.finish() }
}

extension Failure {
    /// The origin refused the connection.
    static let refused = Failure(
        phase: .connecting, kind: .connectionRefused, evidence: .neverSent,
        message: "Connection refused by shop.example.", curlCode: 7, osError: 111)

    /// The origin closed the connection after the request had been sent.
    static let terminated = Failure(
        phase: .awaitingResponse, kind: .connectionTerminated, evidence: .maybeApplied,
        message: "The connection closed before an answer came.", curlCode: 52, bytesSent: 180,
        localAddress: "127.0.0.1:40000", remoteAddress: "192.0.2.1:80")
}
