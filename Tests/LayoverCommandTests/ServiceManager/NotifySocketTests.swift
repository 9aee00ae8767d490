import Foundation
import LayoverTestSupport
import Testing

@testable import layover

/// Messages to a service manager that is busy.
struct NotifySocketTests {
    /// No message is read. Each is sent on a socket of its own, so the queue of the receiver is the only limit.
    @Test func messageWaitsForRoomInAFullQueue() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("notify").path
        let receiver = try receiver(at: path)
        defer { close(receiver) }
        let notifications = try #require(NotifySocket(path))
        let hasWaited = try await onOwnThread { () -> Bool in
            for _ in 1...10_000 {
                let start = ContinuousClock.now
                notifications.send(["READY=1"])
                // Half of the longest wait. A slow machine only makes the wait longer.
                if ContinuousClock.now - start > .milliseconds(500) { return true }
            }
            return false
        }
        #expect(hasWaited)
    }

    private func receiver(at path: String) throws -> CInt {
        let receiver = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(receiver, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        try #require(result == 0)
        return receiver
    }
}
