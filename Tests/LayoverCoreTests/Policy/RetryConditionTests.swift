import Testing

@testable import LayoverCore

struct RetryConditionTests {
    /// Which of the words cover which kind, outside the TLS handshake.
    private static let table: [FailureKind: [RetryCondition]] = [
        .dnsTimeout: [.dns, .timeout], .dnsError: [.dns],
        .destinationUnavailable: [.connect], .parentProxyUnreachable: [.connect], .destinationIPUnroutable: [.connect],
        .connectionRefused: [.connect], .connectionTimeout: [.connect, .timeout],
        .connectionTerminated: [.reset], .httpResponseIncomplete: [.reset],
        .connectionReadTimeout: [.timeout], .connectionWriteTimeout: [.timeout],
        .httpResponseTimeout: [.timeout],
    ]
    private static let words: [RetryCondition] = [.dns, .connect, .timeout, .reset, .tlsHandshake]

    @Test(arguments: FailureKind.allCases)
    func everyFailureKindMatchesItsRetryConditions(kind: FailureKind) {
        for phase in FailurePhase.allCases {
            for evidence in Evidence.allCases {
                let failure = Failure.fixture(kind, phase: phase, evidence: evidence)
                var expected = Self.table[kind] ?? []
                if phase == .securing, kind == .tlsProtocolError || kind == .tlsAlertReceived {
                    expected.append(.tlsHandshake)
                }
                #expect(Self.words.filter { $0.matches(failure) } == expected, "\(phase)")
                #expect(RetryCondition.connectivity.matches(failure) == !expected.isEmpty, "\(phase)")
                #expect(!RetryCondition.status(502).matches(failure))
                let types = FailureKind.allCases.filter { RetryCondition.errorType($0).matches(failure) }
                #expect(types == [kind])
            }
        }
    }

    @Test func aCertificateIsNeverConnectivity() {
        for phase in FailurePhase.allCases {
            #expect(!RetryCondition.connectivity.matches(.fixture(.tlsCertificateError, phase: phase)))
        }
    }

    @Test(
        arguments: [
            "connectivity", "dns", "connect", "timeout", "reset", "tls-handshake", "100", "503", "599",
        ] + FailureKind.allCases.filter { $0 != .httpResponseStatus && $0 != .outcomeUnknown }.map(\.rawValue))
    func retryConditionTextRoundTrips(word: String) {
        #expect(RetryCondition(word)?.word == word)
    }

    @Test(arguments: ["", "DNS", "tls", "99", "600", "-503", " 503", "5xx", "connection-refused", "http_response_status", "outcome_unknown"])
    func unknownRetryConditionIsRefused(word: String) {
        #expect(RetryCondition(word) == nil)
    }
}
