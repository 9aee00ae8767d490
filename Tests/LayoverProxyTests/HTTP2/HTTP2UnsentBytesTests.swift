import NIOCore
import NIOEmbedded
import Testing

@testable import LayoverProxy

/// Accounts of sessions against `limits.unsentTotal`.
struct HTTP2UnsentBytesTests {
    private final class WritabilityCount: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var count = 0

        func channelWritabilityChanged(context: ChannelHandlerContext) { count += 1 }
    }

    private struct Session {
        let loop: EmbeddedEventLoop
        let account: HTTP2UnsentBytes

        init(_ total: UnsentTotal, loop: EmbeddedEventLoop = EmbeddedEventLoop()) {
            self.loop = loop
            account = HTTP2UnsentBytes(total: total, eventLoop: loop) { .uptimeNanoseconds(0) }
        }

        func stream() throws -> (HTTP2StreamTranscoder, WritabilityCount) {
            let transcoder = HTTP2StreamTranscoder(unsent: account)
            let count = WritabilityCount()
            let channel = EmbeddedChannel(handlers: [transcoder, count], loop: loop)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            return (transcoder, count)
        }
    }

    @Test func largestSessionStopsFirst() {
        let total = UnsentTotal(byteCountMax: 1000)
        let (large, small) = (Session(total).account, Session(total).account)
        let (first, second) = (HTTP2StreamTranscoder(unsent: large), HTTP2StreamTranscoder(unsent: small))
        large.added(499)
        #expect(first.hasRoom, "one alone may have half")
        large.added(1)
        #expect(!first.hasRoom)
        small.added(200)
        #expect(second.hasRoom && !first.hasRoom)
        small.added(51)
        #expect(!second.hasRoom, "249 are left, which is less than its 251")
    }

    @Test func sessionWithoutUnsentBytesAlwaysHasRoom() {
        let total = UnsentTotal(byteCountMax: 1000)
        Session(total).account.added(2000)
        #expect(HTTP2StreamTranscoder(unsent: Session(total).account).hasRoom)
    }

    @Test func sumNeverExceedsTheLimitByMoreThanOnePartForEachSession() {
        let total = UnsentTotal(byteCountMax: 100_000)
        let sessions = (0..<50).map { _ in Session(total).account }
        let part = 100
        // Each takes parts as long as it may, in turn.
        for _ in 0..<2000 { for session in sessions where HTTP2StreamTranscoder(unsent: session).hasRoom { session.added(part) } }
        #expect(total.rest >= -50 * part)
        #expect(total.rest <= 100_000 / 51 + 50 * part, "and most of it is used")
        let counts = sessions.map(\.byteCount)
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= part, "equally by all")
    }

    @Test func waitingStreamsGoOnAsTheirClientTakesBytes() throws {
        let session = Session(UnsentTotal(byteCountMax: 1 << 20))
        let (first, firstCount) = try session.stream()
        let (second, secondCount) = try session.stream()
        session.account.added(1 << 20)
        #expect(!first.hasRoom && !second.hasRoom && !first.hasRoom)
        session.account.taken((1 << 20) - (1 << 18))
        session.loop.run()
        #expect(firstCount.count == 1 && secondCount.count == 1, "there is room for both")
        #expect(!first.isWaitingForRoom && first.hasRoom)
    }

    @Test func streamsGoOnOneByOneWhereRoomIsScarce() throws {
        let session = Session(UnsentTotal(byteCountMax: 1000))
        let (first, firstCount) = try session.stream()
        let (second, secondCount) = try session.stream()
        session.account.added(900)
        #expect(!first.hasRoom && !second.hasRoom)
        session.account.taken(500)
        session.loop.run()
        #expect(firstCount.count == 1 && secondCount.count == 0)
        session.account.taken(1)
        session.loop.run()
        #expect(secondCount.count == 1)
    }

    @Test func roomThatAnotherSessionMadeIsFoundByTheTick() throws {
        let total = UnsentTotal(byteCountMax: 1000)
        let session = Session(total)
        let other = Session(total).account
        let (stream, count) = try session.stream()
        other.added(800)
        session.account.added(200)
        #expect(!stream.hasRoom)
        other.taken(800)
        session.account.goOn()
        #expect(count.count == 1)
    }

    @Test func streamThatEndedIsForgotten() throws {
        let session = Session(UnsentTotal(byteCountMax: 1000))
        let (stream, count) = try session.stream()
        session.account.added(900)
        #expect(!stream.hasRoom)
        session.account.forget(stream)
        session.account.taken(900)
        session.loop.run()
        #expect(count.count == 0 && !stream.isWaitingForRoom)
    }
}
