import Testing

@testable import LayoverCore

struct FailureReasonTests {
    private static let all: [(FailureReason, FailureKind)] = [
        (.invalidURL, .httpRequestError), (.nameNotResolved, .dnsError), (.closedOnceOpen, .connectionTerminated),
        (.closedBeforeSending, .connectionTerminated), (.handshakeTimedOut, .connectionTimeout), (.startNotRecorded, .proxyInternalError),
        (.alertReceived("alert 40: x", needsCertificate: false), .tlsAlertReceived), (.abortedByProxy, .proxyInternalError),
        (.bodyBrokenOff, .httpRequestError), (.nothingAcknowledged(isSent: true), .connectionReadTimeout),
        (.localAddressGone(isAnswered: false), .connectionTerminated), (.closedBeforeResponse, .connectionTerminated),
        (.responseCut, .httpResponseIncomplete), (.noResponseInTime, .httpResponseTimeout), (.bodyStalled, .connectionReadTimeout),
        (.headTooLarge, .httpResponseHeaderSectionSize), (.otherProtocol, .httpUpgradeFailed),
    ]

    @Test func eachReasonHasItsKindAndASentenceOfItsOwn() {
        for (reason, kind) in Self.all {
            #expect(reason.kind == kind, "\(reason)")
            #expect(reason.message.hasSuffix(".") && reason.message.first?.isUppercase == true, "\(reason)")
        }
        #expect(Set(Self.all.map { $0.0.message }).count == Self.all.count)
    }

    /// RFC 9209 section 2.3.18.
    @Test func closedConnectionIsAnIncompleteResponseOnceAByteCame() {
        #expect(FailureReason.closed(hasBegun: false) == .closedBeforeResponse)
        #expect(FailureReason.closed(hasBegun: true) == .responseCut)
        #expect(FailureReason.localAddressGone(isAnswered: true).kind == .httpResponseIncomplete)
        #expect(FailureReason.nothingAcknowledged(isSent: false).kind == .connectionWriteTimeout)
    }

    @Test func timeoutsNameTheirKeys() {
        #expect(FailureReason.noResponseInTime.message.contains("timeouts.firstByte"))
        #expect(FailureReason.bodyStalled.message.contains("timeouts.idle"))
        #expect(FailureReason.headTooLarge.message.contains("limits.headerBytes"))
    }

    @Test func alertNamesTheServerAndAMissingCertificate() {
        let reason = FailureReason.alertReceived("alert 116: certificate_required", from: "parent proxy", needsCertificate: true)
        #expect(
            reason.message == "The parent proxy ended the TLS handshake (alert 116: certificate_required). "
                + "It requires a client certificate, and Layover has none.")
    }

    @Test func failureHasKindAndSentenceOfItsReason() {
        let failure = Failure(.responseCut, phase: .receiving, evidence: .answered, bytesSent: 5, localAddress: "127.0.0.1")
        #expect(failure.kind == .httpResponseIncomplete && failure.message == FailureReason.responseCut.message)
        #expect(failure.phase == .receiving && failure.evidence == .answered && failure.bytesSent == 5)
        #expect(failure.localAddress == "127.0.0.1" && failure.remoteAddress == nil && failure.curlCode == nil)
        #expect(Failure.abortedByProxy.evidence == .neverSent && Failure.abortedByProxy.phase == .resolving)
    }
}
