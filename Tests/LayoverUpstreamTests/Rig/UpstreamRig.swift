import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import LayoverTestSupport
import NIOCore
import NIOPosix
import Synchronization

@testable import LayoverUpstream

/// A worker on its own event loop, with what a test needs to use it.
final class UpstreamRig: Sendable {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let eventLoop: any EventLoop
    let worker: any UpstreamWorker
    /// Calls of `batchEnded`.
    let batchEndCount: BatchEndCount
    private let threads = NIOThreadPool(numberOfThreads: 1)
    private let spool: BodySpool
    private let isStopped = Atomic(false)

    init(
        guard addressGuard: any AddressGuard = OpenGuard(),
        resolver: NameResolver? = nil,
        adjust: (inout UpstreamOptions) -> Void = { _ in }
    ) throws {
        eventLoop = group.next()
        var options = UpstreamOptions(addressGuard: addressGuard)
        options.idleWithoutClientMax = Path.idleWithoutClientMax
        options.readTLS = LibcurlTLS.read(from:into:)
        options.hasCloseNotify = LibcurlTLS.hasCloseNotify
        adjust(&options)
        let upstream =
            if let resolver {
                try LibcurlUpstream(options: options, resolver: resolver)
            } else {
                try LibcurlUpstream(options: options)
            }
        let batchEndCount = BatchEndCount()
        self.batchEndCount = batchEndCount
        worker = try Path.current.upstream(dialledBy: upstream, options)
            .makeWorker(for: eventLoop, batchEnded: { batchEndCount.value.increment() })
        threads.start()
        spool = BodySpool(folder: "/tmp", byteCountMax: 1 << 30, threads: threads)
        TestServers.endWithTest { [self] in try await stop() }
    }

    /// Ends everything and waits for it, once. Tests on paths need it only for what they expect behind the end.
    func stop() async throws {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        try await eventLoop.submit { [worker] in worker.shutDown() }.get()
        await withCheckedContinuation { continuation in
            threads.submit { [worker] _ in
                worker.waitUntilEnded()
                continuation.resume()
            }
        }
        try await threads.shutdownGracefully()
        try await group.shutdownGracefully()
    }

    // MARK: Requests

    func request(
        _ method: String, port: Int, scheme: Origin.Scheme = .http, host: String = "127.0.0.1",
        target: String = "/x", fields: [String] = [], framing: BodyFraming = .none,
        body: CapturedBody? = nil, mayBeSentTwice: Bool? = nil
    ) -> UpstreamRequest {
        let origin = Origin(scheme: scheme, host: host, port: port)
        return UpstreamRequest(
            purpose: .transfer, origin: origin, method: method, target: target,
            host: origin.hostField, fields: RequestFields(fields), framing: framing, body: body,
            mayBeSentTwice: mayBeSentTwice ?? !["POST", "PATCH"].contains(method))
    }

    /// A body that the test fills.
    func emptyBody(length: Int?, mayBeSentTwice: Bool = false, limits: CapturedBody.Limits = .init()) -> CapturedBody {
        CapturedBody(
            length: length, mayBeSentTwice: mayBeSentTwice, limits: limits, spool: spool,
            clientResumed: {})
    }

    /// A complete body.
    func body(
        _ text: String, chunked: Bool = false, mayBeSentTwice: Bool = false, limits: CapturedBody.Limits = .init()
    ) -> CapturedBody {
        let body = emptyBody(length: chunked ? nil : text.utf8.count, mayBeSentTwice: mayBeSentTwice, limits: limits)
        if !text.isEmpty { _ = body.append(ByteBuffer(string: text)) }
        body.finish()
        return body
    }

    // MARK: Attempts

    /// Starts an attempt and returns what will be told of it.
    func start(
        _ request: UpstreamRequest, needsFreshConnection: Bool = false, passesOn: Bool = true,
        permit: SendingPermit? = nil, client: Int? = nil
    ) -> AttemptRecord {
        let record = AttemptRecord(worker: worker, eventLoop: eventLoop, passesOn: passesOn)
        let attempt = UpstreamAttempt(
            request: request, number: 1, needsFreshConnection: needsFreshConnection, permit: permit, client: client,
            receiver: record)
        record.adopt(attempt)
        eventLoop.execute { [worker] in worker.start(attempt) }
        return record
    }

    /// Makes an attempt and waits for its end.
    func send(_ request: UpstreamRequest, needsFreshConnection: Bool = false) async -> AttemptRecord.Facts {
        await start(request, needsFreshConnection: needsFreshConnection).ended()
    }
}

/// Counts on one event loop.
final class BatchEndCount: Sendable {
    let value = Atomic(0)
}

enum RigError: Error { case noSocket }

/// Refuses nothing.
struct OpenGuard: AddressGuard {
    func refusal(of address: String, port: Int, allow: [String]) -> FailureKind? { nil }
    func refusal(ofLiteral host: String, port: Int, allow: [String]) -> FailureKind? { nil }
}
