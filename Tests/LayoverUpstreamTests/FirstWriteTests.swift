import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@testable import LayoverUpstream

/// New connections on which the kernel refuses the first byte of the request, because the origin has reset them already.
struct FirstWriteTests {
    /// Hands out connections whose origin has sent bytes and reset the connection.
    private final class ResetDialler: Upstream, UpstreamWorker {
        private let bytes: String

        init(sending bytes: String) { self.bytes = bytes }

        var blocksForPermits: Bool { false }
        func makeWorker(for eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void) -> any UpstreamWorker { self }

        func start(_ attempt: UpstreamAttempt) {
            attempt.receiver.receive(
                .dialled(DialledSocket(descriptor: Self.resetConnection(after: bytes), remoteAddress: nil)), of: attempt)
        }

        private static func resetConnection(after bytes: String) -> CInt {
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            let near = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let far = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name -> CInt in
                    guard bind(listener, name, size) == 0, listen(listener, 1) == 0, getsockname(listener, name, &size) == 0,
                        connect(near, name, size) == 0
                    else { return -1 }
                    return accept(listener, nil, nil)
                }
            }
            _ = send(far, bytes, bytes.utf8.count, 0)
            OriginConnection.reset(at: far)
            close(far)
            return near
        }

        func cancel(_ attempt: UpstreamAttempt) {}
        func cancelIfConnecting(_ attempt: UpstreamAttempt) {}
        func resumeReceiving(_ attempt: UpstreamAttempt) {}
        func networkChanged() {}
        func shutDown() {}
    }

    private func facts(of bytes: String) async throws -> AttemptRecord.Facts {
        let rig = try UpstreamRig()
        let upstream = DirectUpstream(dialler: ResetDialler(sending: bytes), options: DirectOptions(addressGuard: OpenGuard()))
        let worker = try upstream.makeWorker(for: rig.eventLoop, batchEnded: {})
        let record = AttemptRecord(worker: worker, eventLoop: rig.eventLoop, passesOn: true)
        let attempt = UpstreamAttempt(
            request: rig.request("POST", port: 80, framing: .length(2), body: rig.body("ab"), mayBeSentTwice: false), number: 1,
            receiver: record)
        record.adopt(attempt)
        rig.eventLoop.execute { worker.start(attempt) }
        let facts = await record.ended()
        record.letGo()
        try await rig.eventLoop.submit { worker.shutDown() }.get()
        try await rig.stop()
        return facts
    }

    /// Before, the attempt ended at the failed write, and the response was lost.
    @Test func errorThatCameBeforeIsDelivered() async throws {
        let facts = try await facts(of: "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
        #expect(facts.status == 503 && facts.bodyText == "no" && facts.events.last == "end", "\(facts)")
    }

    /// A success without the request is none.
    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 503 Bu"])
    func otherBytesLeaveTheRequestNeverSent(bytes: String) async throws {
        let facts = try await facts(of: bytes)
        #expect(facts.failure?.evidence == .neverSent && facts.events == ["failed"], "\(facts)")
    }
}
