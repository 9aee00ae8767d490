package import LayoverCore
package import LayoverEngine
import LayoverHTTP
import NIOCore
import Synchronization

/// One attempt as a test holds it: what the proxy wants to send, and the strings by which it is answered.
///
/// `@unchecked Sendable`: the private variables are touched on the loop only, by methods that switch to it.
package final class ScriptedAttempt: @unchecked Sendable {
    /// The observed facts of the attempt.
    package struct Seen: Sendable {
        package var isCancelled = false
        package var resumeCount = 0
        package var isOver = false
        package var sent: [UInt8] = []
        package var trailers: [String] = []
        package var sendingEnd: CapturedBody.ReadResult?
    }

    package let attempt: UpstreamAttempt
    package let seen = Watched(Seen())
    private let worker: ScriptedWorker
    private var isOver = false
    private var reader: CapturedBody.Reader?
    private var takenCount = 0
    private var takenCountMax = Int.max
    private var endsWhenCancelled = true
    private var whenSent: (() -> Void)?

    init(_ attempt: UpstreamAttempt, worker: ScriptedWorker) {
        self.attempt = attempt
        self.worker = worker
    }

    // MARK: What is to be sent

    package var request: UpstreamRequest { attempt.request }

    /// The fields as `Name: value`, in order.
    package var fields: [String] { Self.lines(attempt.request.fields) }

    /// The values of a field, its name without regard to case.
    package func values(_ name: String) -> [String] {
        fields.compactMap { line in
            guard line.lowercased().hasPrefix(name.lowercased() + ": ") else { return nil }
            return String(line.dropFirst(name.count + 2))
        }
    }

    static func lines(_ fields: RequestFields) -> [String] { fields.map { String(buffer: $0.line) } }

    /// The first byte is about to leave. The rest counts as handed over, unless only a part of the body is taken.
    @discardableResult
    package func beginSending() -> Self {
        let wasBegun = attempt.hasBegunSending.exchange(true, ordering: .acquiringAndReleasing)
        if !wasBegun { attempt.isBodyHandedOver.store(true, ordering: .relaxed) }
        return self
    }

    /// Takes the body as fast as it comes, as a worker would.
    ///
    /// - Parameter countMax: How many bytes of it in all; then it stops until it is told more. Default: all.
    @discardableResult
    package func readBody(atMost countMax: Int = .max) -> Self {
        beginSending()
        if countMax < .max { attempt.isBodyHandedOver.store(false, ordering: .relaxed) }
        worker.eventLoop.execute {
            self.takenCountMax = countMax
            self.openReader()
            self.pump()
        }
        return self
    }

    /// The whole body, once it has come.
    package func wholeBody() async throws -> String {
        readBody()
        return try await seen.take("the whole body") { seen in
            seen.sendingEnd == .end ? String(decoding: seen.sent, as: UTF8.self) : nil
        }
    }

    private func openReader() {
        guard reader == nil, !isOver, let body = attempt.request.body else { return }
        let loop = worker.eventLoop
        reader = body.makeReader { [weak self] in
            loop.execute { [weak self] in self?.pump() }
        }
    }

    private func pump() {
        guard let reader, !isOver else { return }
        var memory = [UInt8](repeating: 0, count: 16 << 10)
        while takenCount < takenCountMax {
            let result = memory.withUnsafeMutableBytes {
                let size = min(takenCountMax - takenCount, $0.count)
                return reader.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<size]))
            }
            guard case .bytes(let count) = result else { return stopped(result) }
            takenCount += count
            let bytes = memory[..<count]
            seen.update { $0.sent += bytes }
        }
    }

    private func stopped(_ result: CapturedBody.ReadResult) {
        guard result != .wait else { return }
        let trailers = reader?.trailers.map(Self.lines) ?? []
        seen.update {
            $0.sendingEnd = result
            $0.trailers = trailers
        }
        if result == .end { attempt.isBodyHandedOver.store(true, ordering: .relaxed) }
        if result == .end { whenSent?() }
        if result == .brokenOff { fail(.connectionTerminated, phase: .sending, evidence: .maybeApplied) }
    }

    // MARK: What comes of it

    /// Delivers events in one batch. Events after the last one of an attempt are dropped.
    package func deliver(_ events: [UpstreamEvent]) {
        worker.eventLoop.execute {
            for event in events where !self.isOver {
                self.prepare(for: event)
                self.attempt.receiver.receive(event, of: self.attempt)
            }
            self.worker.batchEnded()
        }
    }

    /// A response in one batch; `body` nil leaves it open. Fields as `Name: value`.
    package func respond(
        _ status: Int = 200, _ fields: [String] = [], body: String? = "", version: String = "1.1",
        trailers: [String] = []
    ) {
        beginSending()
        var events = [head(status, fields, version: version)]
        if let body {
            if !body.isEmpty, request.method != "HEAD" { events.append(.body(ByteBuffer(string: body))) }
            events.append(.end(trailers: Self.trailers(trailers)))
        }
        deliver(events)
    }

    /// Takes the whole request, and only then responds.
    package func respondOnceSent(_ status: Int = 200, _ fields: [String] = [], body: String = "") {
        guard request.body != nil else { return respond(status, fields, body: body) }
        worker.eventLoop.execute {
            self.whenSent = { self.respond(status, fields, body: body) }
        }
        readBody()
    }

    package func sendHead(_ status: Int = 200, _ fields: [String] = [], version: String = "1.1") {
        respond(status, fields, body: nil, version: version)
    }

    package func sendBody(_ text: String) { deliver([.body(ByteBuffer(string: text))]) }

    package func finish(trailers: [String] = []) { deliver([.end(trailers: Self.trailers(trailers))]) }

    package func fail(
        _ kind: FailureKind = .connectionRefused, phase: FailurePhase = .connecting,
        evidence: Evidence = .neverSent, reusedConnection: Bool = false
    ) {
        deliver([
            .failed(
                Failure(
                    phase: phase, kind: kind, evidence: evidence, message: "The script says \(kind.rawValue).",
                    reusedConnection: reusedConnection))
        ])
    }

    /// From now on a cancelled attempt ends only when the test says so.
    package func outliveCancel() async throws {
        // Done before the test goes on: what it does next may reach the loop ahead of a task.
        try await worker.eventLoop.submit { self.endsWhenCancelled = false }.get()
    }

    private func prepare(for event: UpstreamEvent) {
        switch event {
        case .body(let bytes):
            attempt.bytesOutstanding.add(bytes.readableBytes, ordering: .relaxed)
        case .end, .failed, .dialled:
            isOver = true
            reader?.close()
            worker.ended(self)
            seen.update { $0.isOver = true }
        case .bodyWanted, .bodyUnwanted, .interim, .head, .endWithheld, .complete:
            break
        }
    }

    // MARK: What the worker is told

    func cancelled() {
        seen.update { $0.isCancelled = true }
        guard endsWhenCancelled else { return }
        let evidence: Evidence =
            attempt.hasBegunSending.load(ordering: .acquiring) ? .maybeApplied : .neverSent
        fail(.proxyInternalResponse, phase: .connecting, evidence: evidence)
    }

    func resumed() {
        if !attempt.isReceivingPaused.exchange(false, ordering: .acquiringAndReleasing) {
            worker.complain("resumeReceiving of an attempt that is not paused", attempt)
        }
        seen.update { $0.resumeCount += 1 }
    }

    // MARK: Parts

    private static func trailers(_ lines: [String]) -> ByteBuffer? {
        lines.isEmpty ? nil : ByteBuffer(string: lines.map { $0 + "\r\n" }.joined())
    }

    /// The head that a server's lines make.
    package func head(_ status: Int, _ fields: [String], version: String = "1.1") -> UpstreamEvent {
        var assembler = ResponseHeadAssembler()
        assembler.reset(isHeadRequest: request.method == "HEAD")
        for line in ["HTTP/\(version) \(status) Scripted"] + fields + [""] {
            let made = Array((line + "\r\n").utf8).withUnsafeBytes { try? assembler.take(line: $0) }
            if let made = made ?? nil {
                return made.isInterim ? .interim(made) : .head(made, sendings: 1)
            }
        }
        worker.complain("the script's head is malformed", attempt)
        return .failed(
            Failure(
                phase: .receiving, kind: .httpProtocolError, evidence: .answered, message: "Malformed."))
    }
}
