import Foundation

/// A TLS server that answers each request of one connection at a time: `openssl s_server`, whose standard
/// input goes to the client and whose standard output is what the client sent.
package final class TLSOrigin: @unchecked Sendable {
    // `@unchecked`: constants after init; Process and its pipes are used from one thread, and `stop` only
    // sends a signal.
    package let port: Int
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter answer: Written for each head that is complete.
    package init(
        certificates: TestCertificates, answer: String, arguments: [String] = []
    ) throws {
        port = try ListeningSocket.refusingPort()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-quiet", "-cert",
                certificates.serverFile, "-key", certificates.serverKeyFile,
            ] + arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        OriginThreads.start { [self] in answerAll(with: Data(answer.utf8)) }
        try waitUntilListening()
    }

    package func stop() { process.terminate() }

    private func answerAll(with answer: Data) {
        var received = Data()
        while true {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return }
            received += more
            while let end = received.range(of: Data("\r\n\r\n".utf8)) {
                received.removeSubrange(..<end.upperBound)
                try? input.fileHandleForWriting.write(contentsOf: answer)
            }
        }
    }

    /// s_server says nothing useful when it is ready, so ask the kernel: a connection that is made tells,
    /// and one that says nothing does s_server no harm.
    private func waitUntilListening() throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            if ListeningSocket.canConnect(toPort: port) { return }
            sched_yield()
        }
        throw ListeningSocket.Failed(osError: ETIMEDOUT)
    }
}
