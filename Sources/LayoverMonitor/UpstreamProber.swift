package import LayoverCore
package import LayoverEngine
import LayoverHTTP
package import NIOCore
import Synchronization

/// Asks one URL with the same client that sends requests, and compares the status with the expected one.
///
/// A captive portal answers in place of the server: with a redirect, or with a page of its own and 200.
/// Hence the default of 204, which nobody answers by accident.
package final class UpstreamProber: Prober {
    private let request: UpstreamRequest
    private let expectedStatus: Int
    private let eventLoop: any EventLoop
    private let worker: any UpstreamWorker

    /// - Parameters:
    ///   - target: Path and query.
    ///   - parentProxy: The parent proxy through which the probe goes; nil if it goes through none.
    ///   - eventLoop: Where the worker reports to.
    package init(
        origin: Origin, target: String, expectedStatus: Int, parentProxy: ParentProxy? = nil, eventLoop: any EventLoop,
        upstream: any Upstream
    ) throws {
        var timeouts = AttemptTimeouts()
        timeouts.connect = .seconds(5)
        timeouts.firstByte = .seconds(5)
        request = UpstreamRequest(
            purpose: .transfer, origin: origin, method: "GET", target: target, host: origin.hostField,
            fields: [:], mayBeSentTwice: true, timeouts: timeouts, parentProxy: parentProxy)
        self.expectedStatus = expectedStatus
        self.eventLoop = eventLoop
        worker = try upstream.makeWorker(for: eventLoop, batchEnded: {})
    }

    deinit {
        // A worker is called from its loop only, and the last user may be anywhere.
        eventLoop.execute { [worker] in worker.shutDown() }
    }

    package func probe() async -> ProbeResult {
        await withCheckedContinuation { continuation in
            eventLoop.execute { [self] in
                let call = ProbeCall(expectedStatus: expectedStatus) { continuation.resume(returning: $0) }
                // Names and connections from before would tell about the network of before.
                worker.networkChanged()
                let attempt = UpstreamAttempt(
                    request: request, number: 1, needsFreshConnection: true, receiver: call)
                call.cancel = { [worker] in worker.cancel(attempt) }
                worker.start(attempt)
            }
        }
    }
}

/// One probe under way. Confined to the event loop.
private final class ProbeCall: UpstreamReceiver {
    private let expectedStatus: Int
    private var done: ((ProbeResult) -> Void)?
    /// Aborts the attempt.
    var cancel: (() -> Void)?

    init(expectedStatus: Int, done: @escaping (ProbeResult) -> Void) {
        self.expectedStatus = expectedStatus
        self.done = done
    }

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        switch event {
        case .head(let head, _):
            finish(head.status == expectedStatus ? .expected : .portal(status: head.status))
            // Nobody reads the body.
            cancel?()
        case .failed(let failure):
            finish(.failed(failure.kind, message: failure.message))
        case .body(let bytes):
            attempt.bytesOutstanding.subtract(bytes.readableBytes, ordering: .relaxed)
        case .bodyWanted, .bodyUnwanted, .interim, .endWithheld, .complete, .end, .dialled:
            break
        }
        if case .failed = event { cancel = nil }
        if case .end = event { cancel = nil }
    }

    private func finish(_ result: ProbeResult) {
        done?(result)
        done = nil
    }
}
