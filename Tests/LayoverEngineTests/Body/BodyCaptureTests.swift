import NIOCore
import Testing

@testable import LayoverEngine

/// The bookkeeping alone: no files, no threads.
struct BodyCaptureTests {
    private var capture = Self.capture()

    private static func capture(
        memory: Int = 4, max: Int = 100, window: Int = 8, twice: Bool = true
    ) -> BodyCapture {
        var limits = CapturedBody.Limits()
        limits.inMemoryMax = memory
        limits.byteCountMax = max
        limits.windowMax = window
        return BodyCapture(limits: limits, mayBeSentTwice: twice)
    }

    private static func bytes(_ text: String) -> ByteBuffer { ByteBuffer(string: text) }

    private static func read(_ capture: inout BodyCapture, _ number: Int, max: Int = 100) -> (String, CapturedBody.ReadResult, BodyCapture.Effects) {
        var memory = [UInt8](repeating: 0, count: max)
        let (result, effects) = memory.withUnsafeMutableBytes { capture.read(into: $0, number: number) }
        guard case .bytes(let count) = result else { return ("", result, effects) }
        return (String(decoding: memory[..<count], as: UTF8.self), result, effects)
    }

    @Test mutating func bodyThatFitsIntoMemoryIsNeverWritten() {
        #expect(capture.received(Self.bytes("abcd")).write == nil)
        #expect(!capture.isClientWaiting)
    }

    @Test mutating func bytesThatDoNotFitAreWrittenAndLeaveTheWindow() {
        _ = capture.received(Self.bytes("abc"))
        let effects = capture.received(Self.bytes("defgh"))
        #expect(effects.write.map { String(buffer: $0.bytes) } == "defgh")
        #expect(capture.tailCount == 5)
        _ = capture.wrote(5)
        #expect(capture.tailCount == 0)
    }

    @Test mutating func fullWindowPausesTheClientUntilItIsWritten() {
        _ = capture.received(Self.bytes("0123456789"))
        #expect(capture.isClientWaiting)
        let effects = capture.wrote(10)
        #expect(effects.resumesClient)
        #expect(!capture.isClientWaiting)
    }

    @Test mutating func readerThatWaitsForTheFileDoesNotWaitForTheClient() {
        _ = capture.received(Self.bytes("abcdefghij"))
        _ = capture.wrote(10)
        capture.readerOpened(number: 1)
        #expect(Self.read(&capture, 1).1 == .wait)
        #expect(!capture.awaitsClient(1))
        _ = capture.fetched(Self.bytes("abcdefghij"), for: 1)
        #expect(!capture.awaitsClient(1))
        #expect(Self.read(&capture, 1).0 == "abcdefghij")
        #expect(capture.awaitsClient(1) && !capture.awaitsClient(2))
        _ = capture.ended(.finished)
        #expect(!capture.awaitsClient(1))
    }

    @Test mutating func aSecondReaderBeginsAtTheStartAndReadsTheFile() {
        _ = capture.received(Self.bytes("abcdefghij"))
        _ = capture.wrote(10)
        _ = capture.ended(.finished)
        capture.readerOpened(number: 1)
        let first = Self.read(&capture, 1)
        #expect(first.1 == .wait)
        #expect(first.2.fetch?.offset == 0)
        #expect(capture.fetched(Self.bytes("abcdefgh"), for: 1).wakesReader)
        #expect(Self.read(&capture, 1).0 == "abcdefgh")
        capture.readerOpened(number: 2)
        #expect(Self.read(&capture, 1).1 == .brokenOff, "an earlier reader gets nothing any more")
        #expect(Self.read(&capture, 2).2.fetch?.reader == 2)
        #expect(!capture.fetched(Self.bytes("late"), for: 1).wakesReader)
        _ = capture.fetched(Self.bytes("abcdefghij"), for: 2)
        #expect(Self.read(&capture, 2).0 == "abcdefghij")
        #expect(Self.read(&capture, 2).1 == .end)
    }

    @Test func unrepeatableBodyIsNotKeptAfterItsFirstByteWasRead() {
        var capture = Self.capture(twice: false)
        _ = capture.received(Self.bytes("ab"))
        capture.readerOpened(number: 1)
        #expect(!capture.isLost)
        #expect(Self.read(&capture, 1).0 == "ab")
        #expect(capture.isLost)
        #expect(capture.received(Self.bytes("0123456789")).write == nil, "what cannot be sent again is not written")
        #expect(Self.read(&capture, 1).0 == "0123456789")
        _ = capture.ended(.finished)
        #expect(Self.read(&capture, 1).1 == .end)
        capture.readerOpened(number: 2)
        #expect(Self.read(&capture, 2).1 == .brokenOff)
    }

    @Test func readerThatTookNothingLeavesTheBodyComplete() {
        var capture = Self.capture(twice: false)
        capture.readerOpened(number: 1)
        #expect(Self.read(&capture, 1).1 == .wait)
        _ = capture.readerClosed(number: 1)
        _ = capture.received(Self.bytes("ab"))
        _ = capture.ended(.finished)
        #expect(!capture.isLost)
        capture.readerOpened(number: 2)
        #expect(Self.read(&capture, 2).0 == "ab")
    }

    @Test func bodyOverTheLimitPausesTheClientBeforeAReaderBegins() {
        var capture = Self.capture(max: 6, window: 100)
        _ = capture.received(Self.bytes("abcd"))
        let effects = capture.received(Self.bytes("efgh"))
        #expect(effects.write == nil)
        #expect(capture.isClientWaiting)
        #expect(!capture.isLost)
        capture.readerOpened(number: 1)
        let taken = Self.read(&capture, 1)
        #expect(taken.0 == "abcd")
        #expect(taken.2.resumesClient, "the upstream takes it: the client may go on")
        #expect(capture.isLost)
        #expect(Self.read(&capture, 1).0 == "efgh")
        _ = capture.received(Self.bytes("ijkl"))
        _ = capture.ended(.finished)
        #expect(Self.read(&capture, 1).0 == "ijkl")
        #expect(Self.read(&capture, 1).1 == .end)
    }

    @Test func bodyOverTheLimitIsLostOnceAReaderHasBegun() {
        var capture = Self.capture(max: 6)
        capture.readerOpened(number: 1)
        _ = capture.received(Self.bytes("abcd"))
        #expect(Self.read(&capture, 1).0 == "abcd")
        _ = capture.received(Self.bytes("efgh"))
        #expect(capture.isLost)
        #expect(Self.read(&capture, 1).0 == "efgh")
    }

    @Test func slowReaderPausesTheClient() {
        var capture = Self.capture(twice: false)
        capture.readerOpened(number: 1)
        _ = capture.received(Self.bytes("a"))
        _ = Self.read(&capture, 1)
        _ = capture.received(Self.bytes("0123456789"))
        #expect(capture.isClientWaiting)
        let taken = Self.read(&capture, 1)
        #expect(taken.0 == "0123456789")
        #expect(taken.2.resumesClient)
    }

    @Test mutating func fullDiskCountsAsALimit() {
        _ = capture.received(Self.bytes("abcdefghij"))
        _ = capture.writeFailed()
        #expect(capture.isClientWaiting)
        #expect(!capture.isLost)
        capture.readerOpened(number: 1)
        #expect(Self.read(&capture, 1).0 == "abcdefghij")
        #expect(capture.isLost)
        #expect(!capture.isClientWaiting)
    }

    @Test mutating func refusedBytesAreWrittenOnceThereIsSpace() {
        _ = capture.received(Self.bytes("abcdefghij"))
        #expect(capture.writeFailed().isStuck)
        let again = capture.roomMayBeBack()
        #expect(again.write.map { String(buffer: $0.bytes) } == "abcdefghij")
        #expect(!again.resumesClient, "it is not known yet")
        #expect(capture.roomMayBeBack().write == nil, "one write at a time")
        #expect(capture.writeFailed().isStuck, "so that it is tried again")
        #expect(capture.roomMayBeBack().write != nil)
        let effects = capture.wrote(10)
        #expect(effects.resumesClient && !effects.isStuck)
        #expect(capture.received(Self.bytes("k")).write?.offset == 10)
    }

    @Test func freeSpaceDoesNotHelpALostBodyOrOneOverItsLimit() {
        var long = Self.capture(max: 6)
        _ = long.received(Self.bytes("abcdefghij"))
        #expect(long.roomMayBeBack().write == nil)
        #expect(long.isClientWaiting)
        var lost = Self.capture()
        _ = lost.received(Self.bytes("abcdefghij"))
        _ = lost.writeFailed()
        lost.readerOpened(number: 1)
        _ = Self.read(&lost, 1, max: 3)
        #expect(lost.isLost)
        #expect(lost.roomMayBeBack().write == nil)
    }

    @Test func completeBodyIsKeptWithoutTheDisk() {
        var capture = Self.capture(window: 20)
        _ = capture.received(Self.bytes("abcdefghij"))
        _ = capture.ended(.finished)
        _ = capture.writeFailed()
        for number in 1...2 {
            capture.readerOpened(number: number)
            #expect(Self.read(&capture, number).0 == "abcdefghij")
            #expect(Self.read(&capture, number).1 == .end)
            #expect(!capture.isLost)
        }
    }

    @Test mutating func persistIsRefusedWhileTheDiskIsFullAndSucceedsLater() {
        _ = capture.received(Self.bytes("abcdefghij"))
        _ = capture.ended(.finished)
        _ = capture.writeFailed()
        #expect(capture.persistRequested().cannotPersist)
        _ = capture.roomMayBeBack()
        #expect(!capture.persistRequested().cannotPersist)
        #expect(capture.wrote(10).persist?.isInFile == true)
    }

    @Test mutating func unreadableFileEndsTheReaderAlsoAfterTheEndOfTheBody() {
        _ = capture.received(Self.bytes("abcdefghij"))
        _ = capture.wrote(10)
        _ = capture.ended(.finished)
        capture.readerOpened(number: 1)
        #expect(Self.read(&capture, 1).1 == .wait)
        #expect(capture.fetched(nil, for: 1).wakesReader)
        #expect(Self.read(&capture, 1).1 == .brokenOff)
        #expect(capture.end == .brokenOff)
    }

    @Test mutating func aBrokenOffBodyWakesItsReader() {
        capture.readerOpened(number: 1)
        #expect(Self.read(&capture, 1).1 == .wait)
        #expect(capture.ended(.brokenOff).wakesReader)
        #expect(Self.read(&capture, 1).1 == .brokenOff)
        #expect(!capture.ended(.finished).wakesReader, "it ends once")
        #expect(capture.end == .brokenOff)
    }

    @Test func anEmptyBodyEndsAtOnceAndIsNotLost() {
        var capture = Self.capture(twice: false)
        _ = capture.ended(.finished)
        capture.readerOpened(number: 1)
        #expect(Self.read(&capture, 1).1 == .end)
        capture.readerOpened(number: 2)
        #expect(Self.read(&capture, 2).1 == .end)
    }

    @Test func fileIsDroppedWhenNoReaderCanNeedIt() {
        var capture = Self.capture(max: 12)
        _ = capture.received(Self.bytes("abcdefghij"))
        _ = capture.wrote(10)
        _ = capture.received(Self.bytes("klm"))
        capture.readerOpened(number: 1)
        #expect(Self.read(&capture, 1).2.fetch != nil)
        _ = capture.fetched(Self.bytes("abcdefghij"), for: 1)
        let taken = Self.read(&capture, 1)
        #expect(taken.0 == "abcdefghij")
        #expect(capture.isLost)
        #expect(taken.2.dropsFile)
        #expect(Self.read(&capture, 1).0 == "klm")
    }
}
