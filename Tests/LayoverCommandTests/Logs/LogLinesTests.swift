import Foundation
import Glibc
import LayoverTestSupport
import Testing

@testable import layover

@Suite struct LogLinesTests {
    /// Both ends of a pipe, closed in the end. No program inherits them that another test starts at the same time: it would keep them open.
    private final class TestPipe {
        /// Swift's Glibc module does not show pipe2(2), so it is looked up by name.
        private typealias Pipe2 = @convention(c) (_ ends: UnsafeMutablePointer<Int32>?, _ flags: Int32) -> Int32

        private(set) var reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            let symbol = try #require(dlsym(nil, "pipe2"))
            let result = unsafeBitCast(symbol, to: Pipe2.self)(&ends, O_CLOEXEC)
            try #require(result == 0)
            (reading, writing) = (ends[0], ends[1])
        }

        deinit {
            closeReading()
            close(writing)
        }

        func closeReading() {
            if reading >= 0 { close(reading) }
            reading = -1
        }

        /// Waits until no process can read: one that is just being started has copies of the ends until it runs a program (poll(2), POLLERR).
        func waitForTheLastReader() {
            var state = pollfd(fd: writing, events: 0, revents: 0)
            #expect(poll(&state, 1, 60_000) == 1)
        }

        /// Writes empty lines until there is no room for another one, and gives their number.
        func fill() throws -> Int {
            try #require(fcntl(writing, F_SETFL, O_NONBLOCK) == 0)
            var count = 0
            while write(writing, "\n", 1) == 1 { count += 1 }
            try #require(fcntl(writing, F_SETFL, 0) == 0)
            return count
        }

        /// Reads until there are that many line breaks.
        func lines(_ count: Int) -> [String] {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while bytes.count(where: { $0 == 0x0A }) < count {
                let got = read(reading, &buffer, buffer.count)
                guard got > 0 else { break }
                bytes += buffer[..<got]
            }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    @Test func linesAreWrittenInOrder() throws {
        let pipe = try TestPipe()
        let lines = LogLines(descriptor: pipe.writing)
        for number in 1...1000 { lines.write("line \(number)") }
        #expect(pipe.lines(1000) == (1...1000).map { "line \($0)" })
        #expect(lines.flush(within: .seconds(60)))
        #expect(lines.droppedCount == 0)
    }

    @Test func aFullDiskDropsAndCountsEveryLine() throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { close(full) }
        let lines = LogLines(descriptor: full)
        for number in 1...10 { lines.write("line \(number)") }
        #expect(lines.flush(within: .seconds(60)))
        #expect(lines.droppedCount == 10)
    }

    @Test func closedReaderDropsAndCountsEveryLine() throws {
        let pipe = try TestPipe()
        pipe.closeReading()
        pipe.waitForTheLastReader()
        let lines = LogLines(descriptor: pipe.writing)
        for number in 1...10 { lines.write("line \(number)") }
        #expect(lines.flush(within: .seconds(60)))
        #expect(lines.droppedCount == 10)
    }

    @Test func stalledReaderDoesNotBlockAndGetsTheBuffer() throws {
        let pipe = try TestPipe()
        let filling = try pipe.fill()
        let lines = LogLines(descriptor: pipe.writing, byteCountMax: 10_000)
        let line = String(repeating: "x", count: 99)
        // The thread may hold one buffer full that it has taken, and another one waits; the rest finds no room.
        for _ in 1...500 { lines.write(line) }
        #expect(!lines.flush(within: .milliseconds(10)))
        #expect(lines.droppedCount >= 300)
        let kept = 500 - lines.droppedCount
        #expect(pipe.lines(filling + kept).count { $0 == line } == kept)
        #expect(lines.flush(within: .seconds(60)))
        lines.write("after")
        #expect(pipe.lines(1) == ["after"])
    }

    @Test func nonBlockingDescriptorLosesNoLine() throws {
        let pipe = try TestPipe()
        try #require(fcntl(pipe.writing, F_SETFL, O_NONBLOCK) == 0)
        let lines = LogLines(descriptor: pipe.writing)
        let line = String(repeating: "x", count: 999)
        for _ in 1...500 { lines.write(line) }
        #expect(pipe.lines(500).count { $0 == line } == 500)
        #expect(lines.droppedCount == 0)
    }

    @Test func anEmptyBufferIsFlushedAtOnce() {
        #expect(LogLines(descriptor: -1).flush(within: .zero))
    }
}
