import LayoverTestSupport
import Testing

extension EndToEnd {
    /// A process that may open nothing more (`RLIMIT_NOFILE`, setrlimit(2)).
    @Suite struct NoDescriptors {
        /// One body is opened from its file, and one request needs only a socket: neither can be had, and neither
        /// ticket is to blame.
        @Test func ticketsWaitUntilDescriptorsAreFree() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let big = try await scene.submit("/sink?big", body: String(repeating: "b", count: 200_000))
            let small = try await scene.submit("/sink?small")
            try await scene.layover.waitForPending("both were tried") {
                $0.data.count == 2 && $0.data.allSatisfy { $0.state == "waiting" && $0.lastFailure?.kind == "connection_refused" }
            }
            let entries = try await (scene.layover.entry(of: big), scene.layover.entry(of: small))
            let limit = try await retryWithoutDescriptors([
                (entries.0, "cannot be opened: Too many open files"), (entries.1, #""kind":"connection_limit_reached""#),
            ], scene.layover)
            let origin = try await scene.startOrigin()
            try scene.layover.process.setDescriptorLimit(limit)

            for ticket in [big, small] {
                _ = try await scene.command("retry", ticket)
                #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered")
            }
            #expect(Set(origin.requests) == ["POST /sink?big", "POST /sink?small"])
            #expect(origin.records.count == 2)
            #expect(origin.records.contains { $0.target == "/sink?big" && $0.length == 200_000 })
        }

        /// The connections to the admin API are there before; from then on there are none to be had.
        ///
        /// - Returns: The limit that there was.
        private func retryWithoutDescriptors(_ entries: [(String, String)], _ layover: RunningLayover) async throws -> Int {
            try await onOwnThread {
                let events = try layover.admin.events()
                let person = try RawConnection(port: layover.admin.port)
                let deadline = Deadline(in: .seconds(60))
                // Asked and answered, so that it is accepted for certain.
                try person.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
                _ = try person.receive(by: deadline)
                // The first few are never closed, so no number below it becomes free. poll(2) takes no more either.
                let limit = try layover.process.setDescriptorLimit(8)
                for (entry, words) in entries {
                    try person.send("POST /v1/pending/\(entry)/retry HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
                    while true {
                        let data = try events.next(by: deadline).data
                        let parts = [entry, words, #""state":"waiting""#, #""evidence":"neverSent""#]
                        if parts.allSatisfy(data.contains) { break }
                    }
                }
                return limit
            }
        }
    }
}
