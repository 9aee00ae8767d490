import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// A file system that turns read-only under a running proxy, as ext4 does after an error (mount(8),
    /// `errors=remount-ro`): the files that are open can be read, and no longer written.
    ///
    /// A person cannot remount one that has files open for writing, so strace(1) answers in the kernel's place.
    @Suite struct ReadOnly {
        private static let writing = "pwrite64,pwritev,fsync,fdatasync,ftruncate,fallocate,linkat,rename,unlink,mkdir"

        @Test func ticketsAreKeptNewOnesRefusedAndOtherRequestsServed() async throws {
            if let refusal = await SystemCallTrace.refusal() { return print("SKIPPED: no read-only disk: \(refusal)") }
            let scene = try await DurableScene()
            let tickets = [try await scene.accept("before"), try await scene.accept("before-big", bodyByteCount: 200_000)]
            let cancelled = try await scene.accept("cancelled")
            let fault = try await DiskFault.begin(scene.layover.process, calls: Self.writing, error: "EROFS")
            var origin: RecordingOrigin?
            do {
                origin = try await whileReadOnly(scene, cancelled)
            } catch {
                await fault.end()
                throw error
            }
            await fault.end()
            #expect(fault.count > 0, "no call failed, so nothing was shown")

            let recording = try #require(origin)
            let after = try await scene.accept("after", bodyByteCount: 200_000)
            try await scene.expectDelivery(of: tickets + [after])
            for id in ["before", "before-big", "after", "held", "plain"] {
                #expect(try recording.arrivals(of: id) == 1, "\(id)")
            }
            for id in ["refused", "refused-big", "cancelled"] { #expect(try recording.arrivals(of: id) == 0, "\(id)") }
            #expect(try await scene.layover.ticket(cancelled, wait: 20).state == "cancelled")
            #expect(try await scene.layover.call("POST", "/v1/pending/\(cancelled)/cancel").status == 409, "now it is over")
            let errors = scene.layover.process.errors
            #expect(errors.components(separatedBy: "the store cannot save changes").count == 2, "\(errors)")
        }

        private func whileReadOnly(_ scene: DurableScene, _ cancelled: String) async throws -> RecordingOrigin {
            let refused = try await scene.send("refused", "Prefer: respond-async, wait=0")
            #expect(refused.status == 507)
            #expect(refused.text.contains(#""kind":"store""#), "\(refused.text)")
            let refusedBig = try await scene.send("refused-big", "Prefer: respond-async, wait=0", bodyByteCount: 200_000)
            #expect(refusedBig.status == 507)
            #expect(refusedBig.text.contains("store.spool") && refusedBig.text.contains("Read-only file system"), "\(refusedBig.text)")
            // A change that a crash would undo is never confirmed, also when it is repeated.
            for _ in 0..<2 {
                let response = try await scene.layover.call("POST", "/v1/pending/\(cancelled)/cancel")
                #expect(response.status == 507, "\(response.text)")
                #expect(response.text.contains("not yet saved to disk"), "\(response.text)")
            }
            let command = try await scene.layover.command("cancel", cancelled).run()
            #expect(command.status == 3, "\(command)")
            #expect(command.errors.contains("not yet saved to disk"), "\(command)")
            #expect(try await !scene.layover.call("GET", "/v1/status").text.contains(#""condition":"ok""#))

            async let held = scene.send("held")
            try await scene.layover.waitForPending { $0.data.map(\.url).contains { $0.hasSuffix("/held") } }
            let origin = try await scene.startOrigin()
            #expect(try await held.status == 200)
            #expect(try await scene.send("plain").status == 200)
            #expect(try origin.arrivals(of: "before") == 0, "nothing is sent of which the store cannot take note")
            return origin
        }
    }
}
