import Foundation
import Glibc

/// A TLS server that answers each request of one connection at a time: `openssl s_server`, whose standard
/// input goes to the client and whose standard output is what the client sent.
///
/// It is killed with its last user, and with the test process, however that ends (`TestGuardian`).
package final class TLSOrigin: @unchecked Sendable {
    // `@unchecked`: constants after init; the pipes are used from one thread, and `stop` only sends a signal.
    package let port: Int
    /// Keeps the port for the server: another program could be given one that is free until the server listens.
    private let reserved: ReservedPort
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter response: Written for each head that is complete.
    package convenience init(certificates: TestCertificates, answer: String, arguments: [String] = []) throws {
        try self.init(
            certificateFile: certificates.serverFile, keyFile: certificates.serverKeyFile, answer: answer, arguments: arguments)
    }

    package init(certificateFile: String, keyFile: String, answer: String, arguments: [String] = []) throws {
        reserved = try ReservedPort()
        port = reserved.number
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-quiet", "-cert",
                certificateFile, "-key", keyFile,
            ] + arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging([TestGuardian.mark.name: TestGuardian.mark.value]) { _, new in new }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // The thread must not keep the origin alive: it ends with it, at the end of what the client sent.
        let (received, sent) = (output.fileHandleForReading, input.fileHandleForWriting)
        let ends = PipeEnds(received: received, sent: sent)
        OriginThreads.start { ends.answerAll(with: Data(answer.utf8)) }
        try waitUntilListening()
        TestServers.endWithTest { [self] in stop() }
    }

    package var pid: Int32 { process.processIdentifier }

    deinit { stop() }

    /// SIGTERM would stay pending: a child inherits the signals that the thread blocks which made it, and those of the
    /// Swift runtime block nearly all.
    package func stop() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Our ends of the pipes, for one thread.
    private struct PipeEnds: @unchecked Sendable {
        // `@unchecked`: only the thread of the responses uses them.
        let received: FileHandle
        let sent: FileHandle

        func answerAll(with answer: Data) {
            var head = Data()
            while true {
                let more = received.availableData
                if more.isEmpty { return }
                head += more
                while let end = head.range(of: Data("\r\n\r\n".utf8)) {
                    head.removeSubrange(..<end.upperBound)
                    try? sent.write(contentsOf: answer)
                }
            }
        }
    }

    /// s_server says nothing useful when it is ready, so ask the kernel: a connection that is made tells,
    /// and one that says nothing does s_server no harm.
    private func waitUntilListening() throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if ListeningSocket.canConnect(toPort: port) { return }
            sched_yield()
        }
        throw ListeningSocket.Failed(osError: ETIMEDOUT)
    }
}
