import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The order in which things reach the disk and the network, as the kernel sees it (strace(1)).
    ///
    /// SIGKILL cannot show this: what a process has written survives it. A power cut takes what was not synced.
    @Suite struct PowerLossOrder {
        private static let calls = "openat,linkat,mkdir,fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg,connect"

        /// One ticket from its first byte to its end; nil where there is no strace.
        private func traceOfOneTicket(bodyByteCount: Int) async throws -> SystemCallTrace? {
            if let refusal = await SystemCallTrace.refusal() {
                print("SKIPPED: the order on disk is not checked: \(refusal)")
                return nil
            }
            let port = try ReservedPort()
            let origin = try await RecordingOrigin.start(port: port)
            let folder = try TemporaryFolder()
            try folder.write(#"{"proxy":{"threads":1},"log":{"level":"warning"}}"#, to: "config.json")
            let file = folder.file("trace")
            let layover = try await RunningLayover.start(
                in: folder, under: SystemCallTrace.prefix(file: file, calls: Self.calls))
            let request = DurableRequest(id: "one", port: port.number, fields: ["Prefer: respond-async, wait=0"], bodyByteCount: bodyByteCount)
            let response = try await layover.exchange(request.text)
            #expect(response.status == 202, "\(response.text)")
            let end = try await layover.ticket(#require(response.ticket), wait: 20)
            #expect(end.state == "delivered", "\(end)")
            #expect(try origin.events().count == 3)
            #expect(await layover.stop().status == 0)
            return try SystemCallTrace(file)
        }

        @Test func bodyFolderAndDatabaseAreSyncedBeforeThe202() async throws {
            guard let trace = try await traceOfOneTicket(bodyByteCount: 300_000) else { return }
            let body = try #require(trace.first("fdatasync(", "/spool/"), "the body's bytes are synced")
            #expect(trace.first(after: body + 1, "pwrite64(", "/spool/") == nil, "nothing is written to it after that")
            let name = try #require(trace.first(after: body + 1, "linkat(", ".request"), "it is named")
            let folder = try #require(trace.first(after: name + 1, "fsync(", "/spool>"), "its name is synced")
            let row = try #require(trace.first(after: folder + 1, isDone: false, "pwrite64(", "layover.sqlite-wal"), "the row is written")
            let commit = try #require(trace.first(after: row + 1, "fdatasync(", "layover.sqlite-wal"), "the commit is synced")
            let told = try #require(trace.first(isDone: false, "HTTP/1.1 202"), "the client is told")
            #expect(told > commit, "\(trace.calls[body...told].joined(separator: "\n"))")
        }

        /// Names that were made at the start: the database, its log, its key, the folder of the spool.
        @Test func filesOfTheStoreAreSyncedBeforeTheFirst202() async throws {
            guard let trace = try await traceOfOneTicket(bodyByteCount: 100) else { return }
            let told = try #require(trace.first(isDone: false, "HTTP/1.1 202"))
            // Other files of this folder are written from here on, and their names are synced too.
            let end = min(told, trace.first("installation-id.") ?? told)
            for made in ["layover.sqlite\", O_RDWR|O_CREAT", "layover.sqlite-wal\", O_RDWR|O_CREAT", "store.key.new\"", "spool\", 0700"] {
                let index = try #require(trace.first(made), "\(made) is made")
                let synced = trace.calls.indices[(index + 1)..<max(index + 1, end)].first { index in
                    let call = trace.calls[index]
                    return call.contains("sync(") && !call.contains(".sqlite") && !call.contains("/spool") && !call.contains("store.key")
                        && !call.contains("installation") && !call.contains(".new") && call.contains("layover-test-")
                }
                #expect(synced != nil, "the folder is synced after \(made) was made and before the 202")
            }
        }

        @Test func startRecordIsSyncedBeforeTheFirstByteIsSent() async throws {
            guard let trace = try await traceOfOneTicket(bodyByteCount: 100) else { return }
            let told = try #require(trace.first(isDone: false, "HTTP/1.1 202"))
            let connect = try #require(trace.first(after: told, isDone: false, "connect(", "AF_INET"), "it connects")
            let mark = try #require(trace.first(after: connect + 1, isDone: false, "pwrite64(", "layover.sqlite-wal"), "the mark is written once it stands")
            let commit = try #require(trace.first(after: mark + 1, "fdatasync(", "layover.sqlite-wal"), "the mark is synced")
            let sent = try #require(trace.first(after: told, isDone: false, "POST /one HTTP/1.1"), "the request leaves")
            #expect(sent > commit, "\(trace.calls[connect...max(sent, commit)].joined(separator: "\n"))")
        }
    }
}
