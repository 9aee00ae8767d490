import Foundation
import Glibc
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// Resources are released when all attempts are over.
@Suite(.serialized, .bothPaths)
struct LifetimeTests {
    private static var descriptors: [CInt] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { CInt($0) }
    }

    /// Descriptors of this process that are connected to a port. Other tests run at the same time, so
    /// counting all descriptors would tell nothing.
    private func socketCount(to port: Int) -> Int {
        Self.descriptors.filter { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getpeername(descriptor, $0, &length)
                }
            }
            return result == 0 && Int(UInt16(bigEndian: address.sin_port)) == port
        }.count
    }

    @Test func noDescriptorIsLeftWhateverHappened() async throws {
        let origin = try MisbehavingOrigin { connection in
            while let (head, _) = connection.readRequest() {
                if head.contains("/close") { return }
                if head.contains("/reset") { return connection.reset() }
                if head.contains("/broken") { connection.write("HTTP/1.1 2x0\r\n\r\n") }
                connection.answer()
            }
        }
        // Clients of tests before may still be there that were connected to somebody else at this port.
        let before = socketCount(to: origin.port)
        let rig = try UpstreamRig()
        for target in ["/", "/close", "/", "/reset", "/broken", "/"] {
            _ = await rig.send(rig.request("GET", port: origin.port, target: target))
            _ = await rig.send(rig.request("POST", port: origin.port, target: target))
            rig.start(rig.request("GET", port: origin.port, target: target)).cancel()
            var dial = rig.request("GET", port: origin.port)
            dial.purpose = .dial
            close(try #require(await rig.send(dial).dialled))
        }
        rig.eventLoop.execute { rig.worker.networkChanged() }
        _ = await rig.send(rig.request("GET", port: origin.port))
        // The response is told before the worker has closed what the change left behind.
        let deadline = ContinuousClock.now + .seconds(20)
        while socketCount(to: origin.port) != before + 1, ContinuousClock.now < deadline { await Task.yield() }
        #expect(socketCount(to: origin.port) == before + 1)
        try await rig.stop()
        #expect(socketCount(to: origin.port) == before)
    }

    @Test func idleConnectionsAreBounded() async throws {
        let gate = Signal()
        let origin = try MisbehavingOrigin { connection in
            while connection.readRequest() != nil {
                gate.block()
                connection.answer()
            }
        }
        let before = socketCount(to: origin.port)
        let rig = try UpstreamRig { $0.idleConnectionCountMax = 3 }
        let records = (1...20).map { _ in rig.start(rig.request("GET", port: origin.port)) }
        gate.fire()
        for record in records { #expect(await record.ended().status == 200) }
        // The worker closes its own descriptors a moment after the responses. The connections that are left stay for 55 s.
        try await eventually("no more than three connections", within: .seconds(20)) { socketCount(to: origin.port) <= before + 3 }
    }

    @Test func attemptIsFreeAfterItsEnd() async throws {
        let origin = try MisbehavingOrigin.answering()
        let rig = try UpstreamRig()
        weak var attempt: UpstreamAttempt?
        weak var body: CapturedBody?
        do {
            let sent = rig.body("abc")
            let record = rig.start(
                rig.request("POST", port: origin.port, framing: .length(3), body: sent))
            attempt = record.attempt
            body = sent
            _ = await record.ended()
            record.letGo()
        }
        // The worker lets go in the turn that delivers the end. A thread that only dialled may do so later.
        _ = await rig.send(rig.request("GET", port: origin.port))
        try await eventually("the attempt and its body are free") { attempt == nil && body == nil }
    }

    @Test func manyAttemptsAtOnceEachEndOnce() async throws {
        let origin = try MisbehavingOrigin { connection in
            while let (head, _) = connection.readRequest() {
                if head.contains("/close") { return }
                connection.answer()
            }
        }
        let rig = try UpstreamRig()
        let records = (0..<300).map { number in
            rig.start(
                rig.request(
                    number % 3 == 0 ? "POST" : "GET", port: origin.port,
                    target: number % 7 == 0 ? "/close" : "/\(number)"))
        }
        for (number, record) in records.enumerated() {
            let facts = await record.ended()
            #expect(facts.terminalCount == 1)
            #expect(facts.events.last == (number % 7 == 0 ? "failed" : "end"))
        }
        #expect(records.allSatisfy { $0.facts.terminalCount == 1 })
    }

    @Test func curlCodesHaveTheirNumbers() {
        for (number, row) in CurlCode.table.enumerated() { #expect(row.number == Int32(number)) }
        #expect(CurlCode.named(200).kind == .proxyInternalError)
        #expect(CurlCode.named(-1).kind == .proxyInternalError)
    }
}
