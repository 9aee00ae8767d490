import Testing

@testable import LayoverCore

struct TLSAlertTests {
    @Test func listedAlertsAreLasting() {
        let lasting = (0...255).filter { TLSAlert($0).isLasting }
        #expect(lasting == [42, 48, 49, 70, 112, 116, 120])
        #expect((0...255).filter { TLSAlert($0, isCertificateWanted: true).isLasting } == [40] + lasting)
        for number in [40] + lasting { #expect(TLSAlert(number).name != nil) }
    }

    @Test(arguments: ["connectivity", "tls-handshake", "tls_alert_received"])
    func lastingRefusalIsCoveredByNoRetryCondition(word: String) throws {
        let condition = try #require(RetryCondition(word))
        var failure = Failure.fixture(.tlsAlertReceived, phase: .securing, evidence: .neverSent)
        #expect(condition.matches(failure) && failure.shutsGate)
        failure.isLastingRefusal = true
        #expect(!condition.matches(failure) && !failure.shutsGate)
    }
}
