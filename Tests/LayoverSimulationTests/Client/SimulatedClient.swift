import LayoverCore
import LayoverTestSupport
import NIOCore
import NIOEmbedded

@testable import LayoverProxy

/// One connection to the proxy port, and the requests that it makes.
final class SimulatedClient {
    let number: Int
    let requests: [RequestTruth]
    let channel: EmbeddedChannel
    let connection: ClientConnection
    private var socket: ClientSocket!
    unowned let simulation: Simulation
    private var generator: SeededGenerator
    private let pipelines: Bool

    private var outbox: [UInt8] = []
    private var reader = ResponseReader()
    private var sentRequestCount = 0
    /// True if the last response came while the proxy was being stopped.
    private(set) var wasAnsweredInDrain = false
    /// Requests that are answered whole.
    private(set) var answeredCount = 0
    private(set) var hasLeft = false
    private(set) var hasClosedOutput = false
    /// True if the client had closed its sending side before its socket.
    private var wasHalfClosed = false
    /// When its process closed its socket, where the proxy got a FIN and no reset. Nil: it has not. By the clock of the loops: while the
    /// machine sleeps nobody notices anything.
    private(set) var socketClosedAt: NIODeadline?
    /// True if the connection is closed by either side.
    private(set) var isClosed = false
    private(set) var sawClose = false
    private(set) var sawTruncation = false
    private var isPumping = false
    /// The request whose body waits for its 100.
    private var waitsForContinue: RequestTruth?

    init(
        number: Int, requests: [RequestTruth], loop: ProxyLoop, embedded: EmbeddedEventLoop,
        simulation: Simulation
    ) {
        self.number = number
        self.requests = requests
        self.simulation = simulation
        generator = SeededGenerator(seed: simulation.seed &* 7919 &+ UInt64(number))
        pipelines = Int.random(in: 0..<4, using: &generator) == 0
        channel = EmbeddedChannel(loop: embedded)
        connection = ClientConnection(loop: loop)
    }

    func connect() throws {
        socket = ClientSocket(
            setWritable: { [unowned channel] in channel.isWritable = $0 },
            changed: { [weak self] in
                guard let self, !self.isPumping else { return }
                self.isPumping = true
                self.simulation.later(.zero) { [weak self] in self?.pump() }
            })
        channel.remoteAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 40_000)
        try channel.pipeline.syncOperations.addHandler(socket)
        try channel.pipeline.syncOperations.addHandler(connection)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 8080), promise: nil)
        sendNext()
    }

    /// The request that is to be answered next.
    var current: RequestTruth? { answeredCount < requests.count ? requests[answeredCount] : nil }

    /// Requests that were answered before the current one.
    var answered: ArraySlice<RequestTruth> { requests.prefix(answeredCount) }

    /// Requests that the client has begun to send and that are not answered.
    var unanswered: ArraySlice<RequestTruth> { requests[answeredCount..<max(answeredCount, sentRequestCount)] }

    /// True if no bytes of a response wait for the client.
    var isTakingAll: Bool { socket.isTaking }

    /// True if all bytes that the client wrote have arrived.
    var isIdle: Bool { outbox.isEmpty && !isPumping }

    // MARK: Sending

    private func wait(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &generator) / 5 * 5)
    }

    private func later(_ wait: Duration, _ work: @escaping (SimulatedClient) -> Void) {
        simulation.later(wait) { [weak self] in
            if let self, !self.hasLeft, !self.isClosed { work(self) }
        }
    }

    private func sendNext() {
        guard sentRequestCount < requests.count, !hasClosedOutput else { return }
        let request = requests[sentRequestCount]
        sentRequestCount += 1
        let head = Array(request.head.utf8)
        simulation.trace { "c\(self.number) sends r\(request.number) \(request.words)" }
        let cut =
            Int.random(in: 0..<6, using: &generator) == 0
            ? Int.random(in: 1..<head.count, using: &generator) : nil
        if let cut {
            send(head[..<cut])
            later(wait(0...50)) { me in
                me.send(head[cut...])
                me.sendBody(of: request)
            }
        } else {
            send(head[...])
            sendBody(of: request)
        }
    }

    private func sendBody(of request: RequestTruth) {
        guard let count = request.bodyByteCount else { return sent(request) }
        if request.expectsContinue {
            waitsForContinue = request
            // RFC 9110 section 10.1.1: a client must not wait for ever.
            later(wait(500...3000)) { $0.goOn(with: request, count: count) }
        } else {
            sendBody(of: request, from: 0, count: count)
        }
    }

    private func goOn(with request: RequestTruth, count: Int) {
        guard waitsForContinue === request else { return }
        waitsForContinue = nil
        sendBody(of: request, from: 0, count: count)
    }

    private func sendBody(of request: RequestTruth, from start: Int, count: Int) {
        guard start < count else {
            if request.isChunked { send(Array("0\r\n\r\n".utf8)[...]) }
            return sent(request)
        }
        if request.breaksOff, start > 0 || count < 2 { return later(wait(50...3000)) { $0.leave() } }
        let isWhole = Bool.random(using: &generator) && !request.breaksOff
        let end = request.breaksOff ? count / 2 : isWhole ? count : min(count, start + Int.random(in: 1...700, using: &generator))
        request.isWhole = end == count
        let bytes = (start..<end).map { request.bodyByte(at: $0) }
        if request.isChunked { send(Array("\(String(bytes.count, radix: 16))\r\n".utf8)[...]) }
        send(bytes[...])
        if request.isChunked { send([13, 10]) }
        later(end == count ? .zero : wait(0...400)) { $0.sendBody(of: request, from: end, count: count) }
    }

    private func sent(_ request: RequestTruth) {
        request.isSent = true
        request.isWhole = true
        if pipelines, !request.isConnect { sendNext() }
    }

    private func send(_ bytes: ArraySlice<UInt8>) {
        outbox.append(contentsOf: bytes)
        pump()
    }

    // MARK: Both ways

    /// Moves what may be moved.
    private func pump() {
        isPumping = false
        guard !isClosed else { return }
        if !outbox.isEmpty, socket.wantsBytes, channel.isActive, !hasClosedOutput {
            let count = min(outbox.count, 2048)
            let bytes = ByteBuffer(bytes: outbox[..<count])
            outbox.removeFirst(count)
            socket.tookRead()
            channel.pipeline.fireChannelRead(bytes)
            channel.pipeline.fireChannelReadComplete()
        }
        receive()
        if !isClosed, !outbox.isEmpty, socket.wantsBytes, channel.isActive, !hasClosedOutput {
            simulation.later(.zero) { [weak self] in self?.pump() }
        }
    }

    private func receive() {
        var isReached = false
        while let bytes = try? channel.readOutbound(as: ByteBuffer.self) {
            if socketClosedAt == nil { reader.append(bytes.readableBytesView) } else if bytes.readableBytes > 0 { isReached = true }
        }
        if socketClosedAt != nil { return afterClosing(isReached: isReached) }
        while let event = reader.next(isHead: { current?.method == "HEAD" }) { take(event) }
        if socket.isOutputClosed || !channel.isActive { closedByProxy() }
    }

    private func take(_ event: ResponseReader.Event) {
        switch event {
        case .interim(let status):
            if status == 100, let current, let count = current.bodyByteCount {
                goOn(with: current, count: count)
            }
        case .head(let response):
            simulation.trace {
                "c\(self.number) gets \(response.status) for \(response.requestNumber.map { "r\($0)" } ?? "-")"
            }
            simulation.referee.answerBegan(response, client: self)
        case .bytes(let bytes, let start, let response):
            simulation.referee.got(bytes, at: start, of: response, client: self)
        case .complete(let response):
            guard current != nil else { return simulation.breach("everyClientGetsOneAnswer", "c\(number) gets one more") }
            simulation.referee.answered(response, client: self)
            answeredCount += 1
            wasAnsweredInDrain = simulation.isDraining
            if waitsForContinue === requests[answeredCount - 1] { waitsForContinue = nil }
            if response.closes { sawClose = true }
            later(wait(0...300)) { me in
                if me.sentRequestCount <= me.answeredCount {
                    me.answeredCount < me.requests.count ? me.sendNext() : me.finish()
                }
            }
        case .malformed(let detail):
            simulation.breach("everyAnswerIsWellFormed", "c\(number): \(detail)")
        }
    }

    private func finish() {
        if Bool.random(using: &generator) { leave() }
    }

    private func closedByProxy() {
        guard !isClosed else { return }
        isClosed = true
        sawTruncation = reader.isInResponse
        simulation.trace { "c\(self.number) is closed by the proxy" }
        simulation.referee.closedByProxy(self)
        if channel.isActive { channel.close(promise: nil) }
    }

    /// There is nobody any more at the other end.
    func processDied() {
        hasLeft = true
        isClosed = true
    }

    // MARK: What clients do

    func leave() {
        guard !isClosed else { return }
        hasLeft = true
        isClosed = true
        simulation.trace { "c\(self.number) leaves" }
        channel.close(promise: nil)
    }

    /// True if the client is on another machine, whose kernel the proxy cannot ask.
    private var isElsewhere: Bool { number.isMultiple(of: 2) }

    /// The state of its socket, as the kernel tells it.
    var peerSocket: PeerSocket.State { isElsewhere ? .unknown : socketClosedAt == nil ? .open : .closed }

    /// Longest time until the proxy has to have noticed that its socket is closed: the next tick; elsewhere `timeouts.halfClosed` and
    /// two ticks. A connection that lingers takes five seconds more, and of a socket that was half closed before the kernel is asked
    /// every ten seconds only.
    var noticedWithin: TimeAmount { (isElsewhere ? .seconds(40) : .seconds(9)) + (wasHalfClosed ? .seconds(10) : .zero) }

    /// As close(2) does: the proxy gets a FIN. The kernel answers what comes afterwards with a reset.
    func closeSocket() {
        guard !isClosed, !hasLeft, outbox.isEmpty else { return }
        (hasLeft, socketClosedAt) = (true, simulation.time.deadline)
        simulation.count("closed sockets")
        simulation.trace { "c\(self.number) closes its socket" }
        wasHalfClosed = hasClosedOutput
        hasClosedOutput = true
        if !socket.isTaking { socket.takeAgain() }
        if !wasHalfClosed { channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        receive()
    }

    private func afterClosing(isReached: Bool) {
        guard isReached || !channel.isActive else { return }
        isClosed = true
        simulation.trace { "c\(self.number) is gone" }
        if channel.isActive { channel.close(promise: nil) }
    }

    func closeOutput() {
        // Bytes that were sent before must arrive before.
        guard !isClosed, !hasClosedOutput, outbox.isEmpty else { return }
        hasClosedOutput = true
        simulation.trace { "c\(self.number) closes its sending side" }
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        receive()
    }

    func stopTaking() {
        guard !isClosed, !hasLeft else { return }
        simulation.trace { "c\(self.number) takes nothing" }
        socket.isTaking = false
    }

    func takeAgain() {
        guard !isClosed, !socket.isTaking else { return }
        simulation.trace { "c\(self.number) takes again" }
        socket.takeAgain()
    }
}
