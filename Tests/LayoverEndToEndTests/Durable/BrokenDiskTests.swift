import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Disk calls that fail under a running proxy: strace(1) answers them in the kernel's place.
    @Suite struct BrokenDisk {
        private func withFault(
            _ calls: String, _ error: String, _ scene: DurableScene, _ body: () async throws -> Void
        ) async throws {
            let fault = try await DiskFault.begin(scene.layover.process, calls: calls, error: error)
            do { try await body() } catch {
                await fault.end()
                throw error
            }
            await fault.end()
            #expect(fault.count > 0, "no call failed, so nothing was shown")
        }

        /// An error of a commit means "not known": no 202, and its address says later what became of it.
        @Test(arguments: [("fsync,fdatasync", "EIO"), ("pwrite64", "EIO"), ("pwrite64", "EROFS"), ("fsync,fdatasync", "ENOSPC")])
        func ticketThatMayNotBeStoredIsNotAccepted(calls: String, error: String) async throws {
            if let refusal = await SystemCallTrace.refusal() { return print("SKIPPED: no broken disk: \(refusal)") }
            let scene = try await DurableScene()
            var tickets = [try await scene.accept("before"), try await scene.accept("before-big", bodyByteCount: 200_000)]
            var unknown: String?
            try await withFault(calls, error, scene) {
                let response = try await scene.send("during", "Prefer: respond-async, wait=0")
                #expect(response.status == 507, "\(response.text)")
                unknown = response.text.firstMatch(of: /"entry":"([0-9a-f]{32})"/).map { String($0.1) }
                let big = try await scene.send("during-big", "Prefer: respond-async, wait=0", bodyByteCount: 200_000)
                #expect(big.status == 507, "\(big.text)")
                #expect(try await scene.layover.call("GET", "/livez").status == 200)
            }
            let origin = try await scene.startOrigin()
            tickets.append(try await scene.accept("after", bodyByteCount: 200_000))
            try await scene.expectDelivery(of: tickets)
            for id in ["before", "before-big", "after"] { #expect(try origin.arrivals(of: id) == 1, "\(id)") }
            try await checkUnknown(unknown, "during", scene, origin)
        }

        /// Known or not, it is one of both: there and delivered once, or not there and never sent.
        private func checkUnknown(
            _ ticket: String?, _ id: String, _ scene: DurableScene, _ origin: RecordingOrigin
        ) async throws {
            let ticket = try #require(ticket, "the problem names the entry")
            await scene.layover.kill()
            let again = try await scene.restarted()
            let response = try await again.layover.exchange(
                "GET /.layover/tickets/\(ticket) HTTP/1.1\r\nHost: 127.0.0.1:\(again.layover.proxyPort)\r\nPrefer: wait=20\r\nConnection: close\r\n\r\n")
            let arrivals = try origin.arrivals(of: id)
            print("the request of an unknown commit: ticket \(response.status), arrivals \(arrivals)")
            #expect(response.status == 200 && arrivals == 1 || response.status == 404 && arrivals == 0, "\(response.text)")
        }

        @Test func ticketIsNotSentIfItsStartCannotBeRecorded() async throws {
            if let refusal = await SystemCallTrace.refusal() { return print("SKIPPED: no broken disk: \(refusal)") }
            let scene = try await DurableScene()
            let tickets = [try await scene.accept("one"), try await scene.accept("two")]
            var origin: RecordingOrigin?
            try await withFault("fsync,fdatasync", "EIO", scene) {
                origin = try await scene.startOrigin()
                // A retry by hand does not wait for the next time, and meets the fault for certain.
                for ticket in tickets { _ = try await scene.layover.call("POST", "/v1/pending/\(ticket)/retry") }
                let events = try await scene.layover.waitForPending("an attempt met the fault") {
                    $0.data.contains { $0.lastFailure?.message.contains("record the attempt") == true }
                }
                #expect(events.data.count == 2)
                #expect(try origin?.events().isEmpty == true)
            }
            try await scene.expectDelivery(of: tickets)
            for id in ["one", "two"] { #expect(try origin?.arrivals(of: id) == 1, "\(id)") }
        }
    }
}
