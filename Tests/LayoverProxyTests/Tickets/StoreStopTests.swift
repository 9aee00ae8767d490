import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// A replay that the store stops does not count as an attempt at the origin.
struct StoreStopTests {
    /// Regression: what had waited for a full disk ended as failed with the first word of its origin.
    @Test func fullDiskUsesNoAttempts() async throws {
        let routes = RouteTable.standard { $0.automaticAttemptsMax = 2 }
        try await withTickets(configuration: { $0.routes = routes }) { proxy, tickets in
            let id = try await proxy.accept()
            tickets.setFull(true)
            var attempt = try await proxy.nextAttempt()
            for _ in 0..<5 {
                #expect(attempt.attempt.number == 1)
                #expect(await !attempt.mark())
                attempt.fail(.proxyInternalError)
                let document = try await proxy.until(id, is: .waiting)
                #expect(document.member("attempts") == "0")
                #expect(document.member("waitingFor") == "time")
                let entry = await proxy.engine.entry(id)
                #expect(entry?.automaticLeft == 2)
                #expect(entry?.attempts.records.map(\.verdict?.rule) == ["store"])
                try await proxy.advance(by: .seconds(6))
                attempt = try await proxy.nextAttempt("one that looks whether the store is well")
            }
            tickets.setFull(false)
            #expect(await attempt.mark())
            attempt.fail()
            #expect(try await proxy.until(id, is: .waiting).member("attempts") == "1")
            try await proxy.advance(by: .seconds(3600))
            try await proxy.nextAttempt("the second real one").fail()
            #expect(try await proxy.until(id, is: .failed).member("attempts") == "2")
            #expect(await proxy.engine.entry(id)?.attempts.records.map(\.number) == [1, 2])
            try await proxy.response(id).expectProblem(410, "failed")
        }
    }
}
