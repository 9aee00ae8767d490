import Foundation
import LayoverTestSupport
import Synchronization
import Testing

extension EndToEnd {
    /// A person cancels while an attempt is under way.
    @Suite struct Cancel {
        private struct Explanation: Sendable, Codable {
            struct Attempt: Sendable, Codable {
                var number: Int
                var evidence: String?
            }

            var attempts: [Attempt]
        }

        /// Breaks its first connection when it has read the request, and says nothing on the others.
        private func origin(_ holds: Signal) throws -> MisbehavingOrigin {
            let isFirst = Mutex(true)
            return try MisbehavingOrigin { connection in
                _ = connection.readRequest()
                let breaks = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if breaks { return }
                holds.fire()
                connection.readToEnd()
            }
        }

        @Test(arguments: [false, true])
        func cutOffAttemptIsCounted(isTicket: Bool) async throws {
            let holds = Signal()
            let origin = try origin(holds)
            defer { origin.stop() }
            let scene = try await DurableScene()
            let layover = scene.layover
            let request = DurableRequest(
                id: "cut", port: origin.port, method: "PUT", fields: isTicket ? ["Prefer: respond-async, wait=0"] : [])
            let response = Task { try await layover.exchange(request.text) }
            #expect(await holds.happened())
            let entry = try #require(try await layover.waitForPending { $0.data.count == 1 }.data.first)
            #expect(entry.state == "attempting")
            #expect(try await layover.call("POST", "/v1/pending/\(entry.id)/cancel").status == 200)
            #expect(try await response.value.status == (isTicket ? 202 : 502))

            try await expectTwoAttempts(of: entry.id, in: layover)
            guard isTicket else { return }
            let ticket = try await layover.ticketID(of: entry.id)
            #expect(try await layover.ticket(ticket).attempts == 2)
            #expect(await layover.stop().status == 0)
            let again = try await scene.restarted()
            #expect(try await again.layover.ticket(ticket).state == "cancelled")
            #expect(try await again.layover.ticket(ticket).attempts == 2)
            try await expectTwoAttempts(of: entry.id, in: again.layover)
        }

        /// The evidence of the attempt comes from its worker, a moment after the end; then all views agree.
        private func expectTwoAttempts(of id: String, in layover: RunningLayover) async throws {
            let path = "/v1/pending/\(id)"
            let explanation = try await onOwnThread { [admin = layover.admin] in
                let deadline = Deadline(in: .seconds(60))
                while true {
                    let response = try admin.call("GET", path + "/explain")
                    let explanation = try JSONDecoder().decode(Explanation.self, from: response.body)
                    let isWhole = explanation.attempts.count > 1 && explanation.attempts.allSatisfy { $0.evidence != nil }
                    if isWhole || deadline.millisecondsLeft == 0 { return explanation }
                }
            }
            #expect(explanation.attempts.map(\.number) == [1, 2])
            #expect(explanation.attempts.map(\.evidence) == ["maybeApplied", "maybeApplied"])
            let shown = try await layover.call("GET", path)
            let entry = try JSONDecoder().decode(PendingListing.Entry.self, from: shown.body)
            #expect(entry.state == "cancelled")
            #expect(entry.attempts == 2)
            #expect(entry.lastFailure?.evidence == "maybeApplied")
        }
    }
}
