import CCurl
import LayoverCore
import Testing

@testable import LayoverUpstream

/// Judgements of libcurl's results that its real behaviour in other tests does not bring about.
struct JudgementTests {
    /// The request went out, and not all of its body.
    private static func sending(_ change: (inout TransferProgress) -> Void) -> TransferProgress {
        var progress = TransferProgress()
        (progress.isResolved, progress.isConnected) = (true, true)
        (progress.sendingCount, progress.bytesSent, progress.isBodyComplete) = (1, 100_000, false)
        change(&progress)
        return progress
    }

    @Test(arguments: [CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR])
    func completeResponseIsNotCalledCut(code: CURLcode) {
        let progress = Self.sending { ($0.hasBegunResponse, $0.isAnswered, $0.isResponseOver) = (true, true, true) }
        let failure = Failure.judged(code: code, cause: nil, progress: progress)
        #expect(failure.kind == .connectionTerminated && failure.message == FailureReason.requestCut.message)
        let stalled = Failure.judged(code: CURLE_ABORTED_BY_CALLBACK, cause: .timedOut, progress: progress)
        #expect(stalled.kind == .connectionWriteTimeout && stalled.message == FailureReason.requestStalled.message)
        #expect(failure.evidence != .neverSent && stalled.evidence != .neverSent)
    }

    /// A status line over 100 KB while the request is being sent: our own memory was not short.
    @Test func lineThatIsTooLongForLibcurlIsNoTroubleOfOurOwn() {
        let failure = Failure.judged(code: CURLE_OUT_OF_MEMORY, cause: nil, progress: Self.sending { _ in })
        #expect(failure.kind == .httpResponseHeaderSectionSize && !failure.isOurOwn && failure.evidence == .maybeApplied)
    }

    /// No response to CONNECT comes from a SOCKS proxy, so TLS that fails is TLS with the origin.
    @Test(arguments: [CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION], [false, true])
    func handshakeThatFailsIsThatOfTheParentProxyOnlyIfItSpeaksTLS(code: CURLcode, isParentProxySecure: Bool) {
        var progress = TransferProgress()
        (progress.isSecure, progress.isResolved, progress.isConnected) = (true, true, true)
        (progress.parentProxyUse, progress.isParentProxySecure) = (.tunnel, isParentProxySecure)
        let failure = Failure.judged(code: code, cause: nil, progress: progress)
        #expect(failure.message.contains("parent proxy") == isParentProxySecure, "\(failure.message)")
        #expect(failure.phase == .securing && failure.evidence == .neverSent)
    }
}
