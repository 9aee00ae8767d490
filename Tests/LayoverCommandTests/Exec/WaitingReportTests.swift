import Testing

@testable import layover

struct WaitingReportTests {
    private var report = WaitingReport()

    private func seconds(_ count: Double) -> Duration { .seconds(count) }

    private func request(_ id: String, _ host: String = "a.example", _ reason: String = "offline") -> WaitingReport.Request {
        .init(id: id, host: host, reason: reason)
    }

    @Test mutating func waitIsReportedAfterASecondAndItsEndWithItsDuration() {
        report.waits(request("1"), now: seconds(5))
        #expect(report.nextDueAt == seconds(6))
        #expect(report.due(now: seconds(5.9)).isEmpty)
        #expect(report.due(now: seconds(6)) == ["waiting for a.example (offline, 1 s)…"])
        #expect(report.ended("1", trouble: nil, now: seconds(17)) == "a.example answered after 12 s")
        #expect(report.nextDueAt == nil)
    }

    @Test mutating func shortWaitIsNotReported() {
        report.waits(request("1"), now: .zero)
        #expect(report.ended("1", trouble: nil, now: seconds(0.9)) == nil)
        #expect(report.due(now: seconds(5)).isEmpty)
    }

    @Test mutating func longWaitIsReportedEachMinute() {
        report.waits(request("1"), now: .zero)
        _ = report.due(now: seconds(1))
        #expect(report.nextDueAt == seconds(61))
        #expect(report.due(now: seconds(60)).isEmpty)
        #expect(report.due(now: seconds(61)) == ["waiting for a.example (offline, 61 s)…"])
        #expect(report.due(now: seconds(181)) == ["waiting for a.example (offline, 3 min)…"])
    }

    @Test mutating func requestsOfOneHostShareALineAndTheLastOneEndsIt() {
        report.waits(request("1"), now: .zero)
        report.waits(request("2"), now: seconds(0.5))
        #expect(report.due(now: seconds(1)).count == 1)
        #expect(report.ended("1", trouble: nil, now: seconds(2)) == nil)
        #expect(report.ended("2", trouble: nil, now: seconds(3)) == "a.example answered after 3 s")
    }

    @Test mutating func newReasonIsInTheNextLine() {
        report.waits(request("1"), now: .zero)
        report.waits(request("1", "a.example", "connection refused"), now: seconds(0.5))
        #expect(report.due(now: seconds(1)) == ["waiting for a.example (connection refused, 1 s)…"])
    }

    @Test mutating func manyHostsShareALine() {
        for (number, host) in ["b", "c", "d", "a"].enumerated() { report.waits(request("\(number)", host), now: .zero) }
        #expect(report.due(now: seconds(1)) == ["waiting for a and 3 more hosts (offline, 1 s)…"])
        #expect(report.ended("0", trouble: nil, now: seconds(2)) == "b answered after 2 s")
    }

    @Test mutating func failedRequestIsReported() {
        report.waits(request("1"), now: .zero)
        _ = report.due(now: seconds(1))
        #expect(report.ended("1", trouble: "expired", now: seconds(600)) == "gave up on a.example after 10 min (expired)")
    }

    @Test mutating func requestsBeyondTheLimitAreNotFollowed() {
        for number in 0...WaitingReport.requestCountMax { report.waits(request("\(number)", "host"), now: .zero) }
        report.waits(request("one more", "late.example"), now: .zero)
        #expect(report.due(now: seconds(1)) == ["waiting for host (offline, 1 s)…"])
    }

    @Test mutating func endOfAnUnknownRequestIsNothing() {
        #expect(report.ended("1", trouble: nil, now: .zero) == nil)
    }
}
