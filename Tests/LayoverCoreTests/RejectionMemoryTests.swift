import LayoverCore
import Testing

struct RejectionMemoryTests {
    private func at(_ seconds: Int) -> Timestamp { Timestamp(nanoseconds: 0) + .seconds(seconds) }

    @Test(arguments: 0...255) func onlyAlertsAboutCertificatesAreCertainRejections(alert: Int) {
        #expect(TLSRejection(alert: alert) == ([42, 43, 44, 45, 46, 48].contains(alert) ? .certain : nil))
    }

    @Test func certainRejectionCountsAtOnceForAnHour() {
        var memory = RejectionMemory()
        let isNew = memory.rejected("a.example", .certain, now: at(0))
        #expect(isNew)
        #expect(memory.isRejected("a.example", now: at(3599)))
        #expect(!memory.isRejected("a.example", now: at(3600)))
        #expect(!memory.isRejected("b.example", now: at(1)))
    }

    @Test func possibleRejectionsCountWhenThreeComeWithinTenSeconds() {
        var memory = RejectionMemory()
        var counted: [Bool] = []
        for second in [0, 9, 11, 12, 13] { counted.append(memory.rejected("a.example", .possible, now: at(second))) }
        #expect(counted == [false, false, false, true, false])
        #expect(memory.rejectedHosts(now: at(13)) == ["a.example"])
    }

    @Test func acceptedCertificateForgetsPossibleRejectionsOnly() {
        var memory = RejectionMemory()
        for second in [0, 1] { _ = memory.rejected("a.example", .possible, now: at(second)) }
        memory.accepted("a.example")
        let isCounted = memory.rejected("a.example", .possible, now: at(2))
        #expect(!isCounted)
        _ = memory.rejected("b.example", .certain, now: at(2))
        memory.accepted("b.example")
        #expect(memory.isRejected("b.example", now: at(2)))
    }

    @Test func changedAuthorityForgetsEverything() {
        var memory = RejectionMemory()
        _ = memory.rejected("a.example", .certain, now: at(0))
        memory.authorityChanged()
        #expect(!memory.isRejected("a.example", now: at(1)))
    }

    @Test func oldestHostIsForgottenBeyondTheLimit() {
        var limits = RejectionMemory.Limits()
        limits.hostCountMax = 2
        var memory = RejectionMemory(limits: limits)
        for (second, name) in ["a", "b", "c"].enumerated() { _ = memory.rejected(name, .certain, now: at(second)) }
        #expect(memory.rejectedHosts(now: at(3)) == ["b", "c"])
    }
}
