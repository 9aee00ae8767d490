import LayoverTestSupport
import Testing

extension EndToEnd {
    @Suite struct Descriptors {
        /// Half of them leave while they are held, half in the middle of a response.
        @Test func descriptorsOfAThousandDepartedClientsAreClosed() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let away = try ReservedPort()
            let origin = try await scene.startOrigin()
            try await scene.layover.curl("--fail", scene.url("/echo")).succeed()
            let before = scene.layover.descriptorCount

            try await leaveWhileHeld(500, scene.layover, request("127.0.0.1:\(away.number)", "/held"))
            try await leaveInTheMiddle(500, scene.layover, request("127.0.0.1:\(scene.port.number)", "/stalled/1000000"))
            try await scene.layover.waitForPending("nobody waits any more") { $0.data.isEmpty }
            let after = try await scene.layover.settledDescriptorCount(atMost: before + 8)

            // A few connections to the origin may be kept alive.
            #expect(after <= before + 8, "\(before) before, \(after) after")
            try await scene.layover.curl("--fail", scene.url("/echo")).succeed()
            #expect(origin.records.count { $0.target == "/echo" } == 2)
        }

        private func request(_ authority: String, _ path: String) -> String {
            "GET http://\(authority)\(path) HTTP/1.1\r\nHost: \(authority)\r\n\r\n"
        }

        private func leaveWhileHeld(_ count: Int, _ layover: RunningLayover, _ request: String) async throws {
            let (port, admin) = (layover.proxyPort, layover.admin)
            try await onOwnThread {
                var clients: [RawConnection] = []
                for _ in 1...count {
                    let client = try RawConnection(port: port)
                    try client.send(request)
                    clients.append(client)
                }
                _ = try admin.waitForPending("all wait", within: .seconds(60)) { $0.counts["waiting"] == count }
            }
        }

        private func leaveInTheMiddle(_ count: Int, _ layover: RunningLayover, _ request: String) async throws {
            let port = layover.proxyPort
            try await onOwnThread {
                for _ in 1...count {
                    let client = try RawConnection(port: port)
                    try client.send(request)
                    _ = try client.receive(by: Deadline(in: .seconds(20)))
                }
            }
        }
    }
}
