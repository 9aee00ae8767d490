import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Tickets whose body was not kept as the store says.
struct LostBodyTests {
    private static let body = String(repeating: "x", count: 500)

    private func withTicket(
        _ method: String = "POST", _ test: (TestProxy, TestStore, EntryID) async throws -> Void
    ) async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let request =
                "\(method) http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: 500\r\n"
                + "Prefer: respond-async, wait=0\r\n\r\n" + Self.body
            let id = try #require(try await proxy.answer(to: request).ticket)
            try await proxy.nextAttempt().fail()
            _ = try await proxy.until(id, is: .waiting)
            try await test(proxy, tickets, id)
        }
    }

    /// A person retries the ticket, and its request is not sent.
    private func expectRejectedRetry(of id: EntryID, _ proxy: TestProxy, _ text: String) async throws {
        _ = await proxy.engine.command(.retry, id)
        #expect(try await proxy.until(id, is: .undecided).member("why") == "rejected")
        try await proxy.expectAttempts(1)
        let failure = await proxy.engine.entry(id)?.lastFailure
        #expect(failure?.evidence == .neverSent)
        #expect(failure?.message.contains(text) == true, "\(failure?.message ?? "nothing")")
    }

    @Test(arguments: ["POST", "PUT"])
    func ticketWithAMissingBodyFileIsNotSent(method: String) async throws {
        try await withTicket(method) { proxy, tickets, id in
            let file = "\(id).request"
            try FileManager.default.moveItem(atPath: "\(tickets.folder)/\(file)", toPath: "\(tickets.folder)/away")
            try await expectRejectedRetry(of: id, proxy, "is missing from the spool folder")
            try FileManager.default.moveItem(atPath: "\(tickets.folder)/away", toPath: "\(tickets.folder)/\(file)")
            let attempt = try await proxy.retry(id, "an attempt with the body back in its place")
            try await attempt.answerWell()
            _ = try await proxy.until(id, is: .delivered)
        }
    }

    @Test(arguments: [0, 499, 501])
    func ticketWithAnIncompleteBodyFileIsNotSent(byteCount: Int) async throws {
        try await withTicket { proxy, tickets, id in
            #expect(truncate("\(tickets.folder)/\(id).request", byteCount) == 0)
            try await expectRejectedRetry(of: id, proxy, "is incomplete: it has \(byteCount) of 500 bytes")
        }
    }

    /// Only a plain file counts: what is behind a link is not ours.
    @Test func symbolicLinkInsteadOfABodyFileIsNotFollowed() async throws {
        try await withTicket { proxy, tickets, id in
            let path = "\(tickets.folder)/\(id).request"
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".away")
            try await expectRejectedRetry(of: id, proxy, "cannot be opened")
        }
    }

    /// The disk gave up in the middle: that is no word of the origin, and no policy may end the ticket for it.
    @Test(arguments: ["POST", "PUT"])
    func bodyFileThatBreaksDuringSendingDoesNotEndTheTicket(method: String) async throws {
        try await withTicket(method) { proxy, tickets, id in
            let attempt = try await proxy.retry(id)
            #expect(await attempt.mark())
            #expect(truncate("\(tickets.folder)/\(id).request", 0) == 0)
            attempt.readBody()
            try await attempt.seen.wait("the end of the body") { $0.sendingEnd == .brokenOff }
            attempt.fail(.httpRequestError, phase: .sending, evidence: .maybeApplied)
            let document = try await proxy.until(id, is: method == "PUT" ? .waiting : .undecided)
            #expect(document.member("why") == (method == "PUT" ? "null" : "maybeApplied"))
            let failure = await proxy.engine.entry(id)?.lastFailure
            #expect(failure?.message == "The file of the request body could not be read completely.")
        }
    }
}
