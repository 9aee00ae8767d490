import LayoverCore
import Testing

struct RejectionMemoryTests {
    private var memory = RejectionMemory()

    private func pair(_ host: String, of client: String = "192.0.2.1") -> RejectionMemory.Pair {
        RejectionMemory.Pair(client: client, host: host)
    }

    private func at(_ seconds: Int) -> Timestamp { Timestamp(nanoseconds: 0) + .seconds(seconds) }

    @Test(arguments: 0...255) func onlyAlertsAboutCertificatesAreCertainRejections(alert: Int) {
        #expect(TLSRejection(alert: alert) == ([42, 43, 44, 45, 46, 48].contains(alert) ? .certain : nil))
    }

    @Test mutating func certainRejectionCountsAtOnceForAnHour() {
        let isNew = memory.rejected(pair("a.example"), .certain, now: at(0))
        #expect(isNew)
        #expect(memory.isRejected(pair("a.example"), now: at(3599)))
        #expect(!memory.isRejected(pair("a.example"), now: at(3600)))
        #expect(!memory.isRejected(pair("b.example"), now: at(1)))
    }

    @Test mutating func rejectionByOneClientDoesNotAffectOthers() {
        _ = memory.rejected(pair("a.example"), .certain, now: at(0))
        #expect(!memory.isRejected(pair("a.example", of: "192.0.2.2"), now: at(1)))
        for second in [1, 2] { _ = memory.rejected(pair("b.example"), .possible, now: at(second)) }
        let isCounted = memory.rejected(pair("b.example", of: "192.0.2.2"), .possible, now: at(3))
        #expect(!isCounted)
        _ = memory.rejected(pair("a.example", of: "192.0.2.2"), .certain, now: at(3))
        #expect(memory.rejectedHosts(now: at(4)) == ["a.example"], "each host once")
    }

    @Test mutating func possibleRejectionsCountWhenThreeComeWithinTenSeconds() {
        var counted: [Bool] = []
        for second in [0, 9, 11, 12, 13] { counted.append(memory.rejected(pair("a.example"), .possible, now: at(second))) }
        #expect(counted == [false, false, false, true, false])
        #expect(memory.rejectedHosts(now: at(13)) == ["a.example"])
    }

    @Test mutating func acceptedCertificateForgetsPossibleRejectionsOnly() {
        for second in [0, 1] { _ = memory.rejected(pair("a.example"), .possible, now: at(second)) }
        memory.accepted(pair("a.example"))
        let isCounted = memory.rejected(pair("a.example"), .possible, now: at(2))
        #expect(!isCounted)
        _ = memory.rejected(pair("b.example"), .certain, now: at(2))
        memory.accepted(pair("b.example"))
        #expect(memory.isRejected(pair("b.example"), now: at(2)))
    }

    @Test mutating func changedAuthorityForgetsEverything() {
        _ = memory.rejected(pair("a.example"), .certain, now: at(0))
        memory.authorityChanged()
        #expect(!memory.isRejected(pair("a.example"), now: at(1)))
    }

    @Test mutating func oldestPairIsForgottenBeyondTheLimit() {
        var limits = RejectionMemory.Limits()
        limits.pairCountMax = 2
        memory = RejectionMemory(limits: limits)
        for (second, name) in ["a", "b", "c"].enumerated() { _ = memory.rejected(pair(name), .certain, now: at(second)) }
        #expect(memory.rejectedHosts(now: at(3)) == ["b", "c"])
    }
}
