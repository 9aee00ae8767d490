import NIOCore
import NIOEmbedded
import Testing

@testable import LayoverTLS

/// Many handshakes at once, in portions.
struct HandshakeTurnTests {
    private let scene = Scene()
    private let identity: TLSServerContext
    private let trust: TLSClientContext

    init() async throws {
        let rig = try LeafRig()
        identity = try await rig.context("o.test")
        trust = try TLSClientContext(trustFile: rig.caFile)
    }

    private final class Scene {
        let loop = EmbeddedEventLoop()
        var time = NIODeadline.uptimeNanoseconds(1)
        private(set) lazy var turns = TLSHandshakeTurns(eventLoop: loop) { [unowned self] in self.time }
        var done: [Int] = []

        /// A part of a handshake that takes a millisecond.
        func take(_ number: Int) {
            turns.take {
                self.time = self.time + .milliseconds(1)
                self.done.append(number)
            }
        }
    }

    @Test func loneHandshakeIsDoneAtOnce() {
        scene.take(1)
        #expect(scene.done == [1])
    }

    @Test func manyAreDoneInPortionsAndInOrder() {
        for number in 0..<1500 { scene.take(number) }
        #expect(scene.done.count == 5, "5 ms at once")
        for portion in 2...300 {
            scene.loop.advanceTime(by: .milliseconds(1))
            #expect(scene.done.count == 5 * portion)
        }
        #expect(scene.done == Array(0..<1500))
    }

    @Test func portionIsFullAgainAfterAPause() {
        for number in 0..<4 { scene.take(number) }
        scene.loop.advanceTime(by: .milliseconds(1))
        for number in 4..<9 { scene.take(number) }
        #expect(scene.done.count == 9)
    }

    @Test func workFromWithinWaitsInLine() {
        scene.turns.take {
            scene.take(2)
            scene.done.append(1)
        }
        #expect(scene.done == [1, 2])
    }

    // MARK: What waits behind the handshake

    private final class Seen {
        var text = ""
        var lost = ""
    }

    /// Asks for bytes as soon as it is added, and after each read, as HTTP/2 does.
    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        let seen: Seen

        init(_ seen: Seen) { self.seen = seen }

        func handlerAdded(context: ChannelHandlerContext) { context.read() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { seen.text += String(buffer: unwrapInboundIn(data)) }

        func channelReadComplete(context: ChannelHandlerContext) { context.read() }
    }

    /// Puts the receiver in its own place when the handshake is complete.
    private final class Chooser: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer

        let seen: Seen

        init(_ seen: Seen) { self.seen = seen }

        func handlerAdded(context: ChannelHandlerContext) { context.read() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { seen.lost += String(buffer: unwrapInboundIn(data)) }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard event is TLSEstablished else { return }
            try? context.pipeline.syncOperations.addHandler(Receiver(seen))
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }

    /// The first bytes of a client came together with the end of its handshake, and were given to the handler that was about to leave:
    /// an HTTP/2 client waited for ever.
    @Test(arguments: [true, false]) func bytesBehindTheHandshakeAreForTheHandlerThatStays(waits: Bool) throws {
        let (seen, channel) = (Seen(), EmbeddedChannel())
        var time = NIODeadline.uptimeNanoseconds(1)
        let turns = TLSHandshakeTurns(eventLoop: channel.embeddedEventLoop) { time }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(TLSServerHandler(turns: turns) { _ in channel.eventLoop.makeSucceededFuture(identity) })
        try pipeline.addHandler(Chooser(seen))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let client = try TLSClientSession(trust, host: "o.test", port: 443, cache: TLSSessionCache())
        try client.handshake()
        try channel.writeInbound(outgoing(of: client))
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { try client.receive(bytes) }
        try client.handshake()
        #expect(client.isEstablished)
        var last = outgoing(of: client)
        try client.write(ByteBuffer(string: "hello"), into: &last)
        if waits { turns.take { time = time + .milliseconds(5) } }
        try channel.writeInbound(last)
        if waits { channel.embeddedEventLoop.advanceTime(by: .milliseconds(1)) }
        #expect(seen.text == "hello" && seen.lost == "")
        _ = try? channel.finish()
    }

    /// The network: nothing comes from it that was not asked for.
    private final class Network: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        private var isReadWanted = false

        func read(context: ChannelHandlerContext) { isReadWanted = true }

        func bring(_ bytes: ByteBuffer, to channel: EmbeddedChannel) throws {
            #expect(isReadWanted)
            isReadWanted = false
            try channel.writeInbound(bytes)
        }
    }

    /// Each part of the handshake waits, as on a loop that has more to do. The client's first bytes come with the end of its handshake or
    /// behind it, and later ones come as well.
    ///
    /// - Parameter isChosenLate: True if the certificate is ready only after the request for it.
    @Test(arguments: [true, false], [true, false])
    func connectionGoesOnWhereEachPartOfItsHandshakeWaits(isJoined: Bool, isChosenLate: Bool) throws {
        // The receiver is there before, as that of HTTP/1.1 is, or comes with the end of the handshake, as that of HTTP/2 does.
        for staysInPlace in [true, false] {
            try goOn(isJoined: isJoined, isChosenLate: isChosenLate, staysInPlace: staysInPlace)
        }
    }

    private func goOn(isJoined: Bool, isChosenLate: Bool, staysInPlace: Bool) throws {
        let (seen, network, channel) = (Seen(), Network(), EmbeddedChannel())
        var time = NIODeadline.uptimeNanoseconds(1)
        // Each piece of work takes a whole portion.
        let turns = TLSHandshakeTurns(eventLoop: channel.embeddedEventLoop) {
            time = time + .milliseconds(5)
            return time
        }
        let choice = channel.eventLoop.makePromise(of: TLSServerContext.self)
        if !isChosenLate { choice.succeed(identity) }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([network, TLSServerHandler(turns: turns) { _ in choice.futureResult }])
        let last: any ChannelHandler = staysInPlace ? Receiver(seen) : Chooser(seen)
        try pipeline.addHandler(last)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let client = try TLSClientSession(trust, host: "o.test", port: 443, cache: TLSSessionCache())
        func pass() { channel.embeddedEventLoop.advanceTime(by: .milliseconds(1)) }
        turns.take {}
        try client.handshake()
        try network.bring(outgoing(of: client), to: channel)
        pass()
        if isChosenLate { choice.succeed(identity) }
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        pass()
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { try client.receive(bytes) }
        try client.handshake()
        #expect(client.isEstablished)
        var end = outgoing(of: client)
        if isJoined { try client.write(ByteBuffer(string: "hello"), into: &end) }
        try network.bring(end, to: channel)
        #expect(seen.text == "")
        pass()
        for text in isJoined ? [" again"] : ["hello", " again"] {
            var bytes = ByteBuffer()
            try client.write(ByteBuffer(string: text), into: &bytes)
            try network.bring(bytes, to: channel)
        }
        #expect(seen.text == "hello again" && seen.lost == "")
        _ = try? channel.finish()
    }
}
