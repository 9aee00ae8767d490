import CCurl
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// Which handles carry another attempt: those that libcurl itself brought to a good end.
struct HandleReuseTests {
    enum End: CaseIterable {
        case answered, failed, cancelled, answeredWhileSending, sentTwice, stoppedByCallback
    }

    @Test(arguments: End.allCases)
    func handleIsReusedOnlyAfterACompleteTransfer(_ end: End) async throws {
        let rig = try UpstreamRig()
        let options = UpstreamOptions(addressGuard: OpenGuard())
        let loop = try WorkerLoop(
            options: options, trust: TrustBundle(caFile: nil),
            resolver: NameResolver(limits: ResolverLimits(nameAgeMax: options.nameAgeMax), lookUp: SystemLookup.lookUp),
            mailbox: Mailbox(), outbox: EventOutbox(eventLoop: rig.eventLoop, batchEnded: {}))
        let transfer = try #require(Transfer(loop: loop))
        loop.transfers = [transfer]
        let record = AttemptRecord(worker: rig.worker, eventLoop: rig.eventLoop, passesOn: true)
        transfer.begin(
            UpstreamAttempt(
                request: rig.request("PUT", port: 9, framing: .chunked, body: rig.body("abc", chunked: true)),
                number: 1, needsFreshConnection: false, receiver: record),
            slot: 0, serial: 1)
        switch end {
        case .answered: loop.finish(transfer, code: CURLE_OK)
        case .failed: loop.finish(transfer, code: CURLE_SEND_ERROR)
        case .cancelled: loop.abort(transfer, for: .cancelled)
        case .answeredWhileSending: loop.finishEarly(transfer)
        case .sentTwice:
            transfer.sending.count = 2
            loop.finish(transfer, code: CURLE_OK)
        case .stoppedByCallback:
            transfer.abortCause = .bodyBrokenOff
            loop.finish(transfer, code: CURLE_ABORTED_BY_CALLBACK)
        }
        #expect(loop.spares.count == (end == .answered ? 1 : 0))
        try await rig.stop()
    }
}
