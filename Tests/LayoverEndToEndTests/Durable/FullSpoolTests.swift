import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Held requests whose bodies find no room on the disk.
    @Suite struct FullSpool {
        /// More than is kept in memory, than may be on its way to the disk, and than the log of the database gives back when the disk
        /// is full, together.
        private static let large = 1_500_000
        /// More than is kept in memory, and less than may be on its way to the disk.
        private static let medium = 200_000

        private func withFullDisk(_ body: (SmallDisk, DurableScene) async throws -> Void) async throws {
            if let refusal = SmallDisk.refusal() { return print("SKIPPED: no full disk: \(refusal)") }
            let disk = try SmallDisk(byteCount: 4 << 20)
            let scene = try await DurableScene(storeIn: disk.path)
            try disk.fill()
            try await body(disk, scene)
            #expect(await scene.layover.stop().status == 0)
        }

        /// Sends in the background, and waits until it has been parked.
        private func hold(
            _ id: String, method: String = "POST", _ fields: String..., bodyByteCount: Int, in scene: DurableScene,
            replayable: Bool = false
        ) async throws -> Task<PlainResponse, any Error> {
            let request = DurableRequest(
                id: id, port: scene.port.number, method: method, fields: fields, bodyByteCount: bodyByteCount)
            let layover = scene.layover
            let response = Task { try await layover.exchange(request.text) }
            try await wait(for: id, in: scene) { $0.attempts > 2 && $0.bodyReplayable == replayable }
            return response
        }

        private func wait(
            for id: String, in scene: DurableScene, _ condition: @escaping @Sendable (PendingListing.Entry) -> Bool
        ) async throws {
            try await scene.layover.waitForPending(id) { $0.data.contains { $0.url.hasSuffix("/\(id)") && condition($0) } }
        }

        /// The lengths of the bodies that came whole.
        private func bodies(of id: String, at origin: RecordingOrigin) throws -> [Int] {
            try origin.events().compactMap { event in
                if case .body(id, let length, true) = event { length } else { nil }
            }
        }

        @Test(arguments: ["POST", "PUT"])
        func bodyWithoutSpaceWaitsWithItsClientAndIsSentCompletely(method: String) async throws {
            try await withFullDisk { _, scene in
                let response = try await hold("large", method: method, bodyByteCount: Self.large, in: scene)
                let origin = try await scene.startOrigin()
                #expect(try await response.value.status == 200)
                #expect(try origin.arrivals(of: "large") == 1)
                #expect(try bodies(of: "large", at: origin) == [Self.large])
            }
        }

        @Test func bodyIsKeptOnceThereIsSpace() async throws {
            try await withFullDisk { disk, scene in
                let response = try await hold("large", method: "PUT", "X-Trouble: reset", bodyByteCount: Self.large, in: scene)
                try disk.empty()
                try await wait(for: "large", in: scene) { $0.bodyReplayable }
                let origin = try await scene.startOrigin()
                #expect(try await response.value.status == 200)
                #expect(try bodies(of: "large", at: origin) == [Self.large, Self.large], "what is kept is sent again")
            }
        }

        @Test func completeBodyInMemoryIsSentAgain() async throws {
            try await withFullDisk { _, scene in
                let response = try await hold(
                    "medium", method: "PUT", "X-Trouble: reset", bodyByteCount: Self.medium, in: scene, replayable: true)
                let origin = try await scene.startOrigin()
                #expect(try await response.value.status == 200)
                #expect(try bodies(of: "medium", at: origin) == [Self.medium, Self.medium])
            }
        }

        /// The client waits longer than its `wait=N`, because no ticket could be stored.
        @Test(arguments: [100, medium, large])
        func waitingClientWithABodyGetsItsTicketOnceThereIsSpace(bodyByteCount: Int) async throws {
            try await withFullDisk { disk, scene in
                let response = try await hold(
                    "waiting", "Prefer: respond-async, wait=1", bodyByteCount: bodyByteCount, in: scene,
                    replayable: bodyByteCount < Self.large)
                try disk.empty()
                let accepted = try await response.value
                #expect(accepted.status == 202, "\(accepted.text)")
                let origin = try await scene.startOrigin()
                try await scene.expectDelivery(of: [try #require(accepted.ticket)])
                #expect(try bodies(of: "waiting", at: origin) == [bodyByteCount])
            }
        }

        /// The bytes that the client has sent fit into the kernel's buffer. Behind more bytes its end would not be
        /// noticed.
        @Test func clientThatLeavesWhileItsBodyHasNoSpaceCancels() async throws {
            try await withFullDisk { _, scene in
                let request = DurableRequest(id: "leaves", port: scene.port.number, fields: [], bodyByteCount: 2_000_000)
                let (text, layover) = (String(request.text.prefix(400_000)), scene.layover)
                try await onOwnThread {
                    let client = try RawConnection(port: layover.proxyPort)
                    try client.send(text)
                    _ = try layover.admin.waitForPending("it waits", within: .seconds(60)) {
                        $0.data.contains { $0.attempts > 2 && !$0.bodyReplayable }
                    }
                    withExtendedLifetime(client) {}
                }
                try await scene.layover.waitForPending("it is gone") { $0.data.isEmpty }
            }
        }
    }
}
