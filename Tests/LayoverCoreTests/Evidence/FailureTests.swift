import Testing

@testable import LayoverCore

struct FailureTests {
    /// The failures that say that the way is blocked, of every kind in every phase with all evidence.
    @Test(arguments: FailureKind.allCases)
    func onlyConnectivityBeforeSendingShutsAGate(kind: FailureKind) {
        let blocking: Set<FailureKind> = [
            .dnsTimeout, .dnsError, .connectionRefused, .connectionTimeout, .destinationUnavailable,
            .destinationIPUnroutable, .connectionTerminated, .connectionReadTimeout,
            .connectionWriteTimeout, .httpResponseTimeout, .httpResponseIncomplete, .parentProxyUnreachable,
        ]
        let handshake: Set<FailureKind> = [.tlsProtocolError, .tlsAlertReceived]
        for phase in FailurePhase.allCases {
            for evidence in Evidence.allCases {
                let failure = Failure.fixture(kind, phase: phase, evidence: evidence)
                let isBefore = [.resolving, .connecting, .securing].contains(phase)
                let isBlocking =
                    blocking.contains(kind) || handshake.contains(kind) && phase == .securing
                #expect(
                    failure.shutsGate == (isBefore && evidence == .neverSent && isBlocking),
                    "\(phase) \(evidence)")
            }
        }
    }

    @Test func onlyAReusedConnectionThatEndsCanBeStale() {
        for kind in FailureKind.allCases {
            for evidence in Evidence.allCases {
                for isReused in [true, false] {
                    let failure = Failure.fixture(
                        kind, phase: .sending, evidence: evidence, reusedConnection: isReused)
                    let isStale = kind == .connectionTerminated && evidence == .maybeApplied && isReused
                    #expect(failure.isStaleConnection == isStale, "\(kind) \(evidence) \(isReused)")
                }
            }
        }
    }

    @Test func failurePhasesAreOrderedInTime() {
        let phases: [FailurePhase] = [
            .resolving, .connecting, .securing, .sending, .awaitingResponse, .receiving,
        ]
        #expect(FailurePhase.allCases.sorted() == phases)
        #expect(phases.filter(\.isBeforeSending) == [.resolving, .connecting, .securing])
    }
}
