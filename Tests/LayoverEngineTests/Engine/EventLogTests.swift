import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverEngine

struct EventLogTests {
    private static let view = Reachability(hasProbe: false, now: Timestamp(nanoseconds: 0)).view

    private static let eventByteCount = log(1).byteCount

    private static func log(_ count: Int, byteCountMax: Int = 1 << 20) -> EventLog {
        var log = EventLog(byteCountMax: byteCountMax)
        for _ in 0..<count { log.append(.reachability(view)) }
        return log
    }

    @Test func numbersHaveNoGap() {
        #expect(Self.log(3).events(after: 0)?.map(\.number) == [1, 2, 3])
    }

    @Test func watcherGetsTheEventsThatItMissed() {
        #expect(Self.log(5).events(after: 3)?.map(\.number) == [4, 5])
        #expect(Self.log(5).events(after: 5)?.isEmpty == true)
        #expect(Self.log(0).events(after: 0)?.isEmpty == true)
    }

    @Test func forgottenEventsAndThoseOfAnotherRunCannotBeRead() {
        let log = Self.log(2001, byteCountMax: 1000 * Self.eventByteCount)
        #expect(log.events(after: 2000)?.count == 1)
        #expect(log.events(after: 1001)?.first?.number == 1002)
        #expect(log.events(after: 1000) == nil)
        #expect(log.events(after: 2002) == nil)
        #expect(log.events(after: .max) == nil)
    }

    @Test func memoryIsBoundedByTheBytesOfEvents() {
        var log = EventLog(byteCountMax: 100_000)
        let report = ReloadReport(at: Timestamp(nanoseconds: 0), errors: [String(repeating: "x", count: 20_000)])
        for _ in 0..<5_000 {
            log.append(.reloaded(report))
            log.append(.reachability(Self.view))
        }
        #expect(log.byteCount <= 100_000)
        #expect(log.knows(after: log.lastNumber - 8))
        #expect(!log.knows(after: log.lastNumber - 20))
        // One that is bigger than all of it is kept as long as it is the newest.
        var small = EventLog(byteCountMax: 100)
        small.append(.reloaded(report))
        #expect(small.events(after: 0)?.count == 1)
        small.append(.reachability(Self.view))
        #expect(small.events(after: 0) == nil)
        #expect(small.events(after: 1)?.count == 1)
    }

    @Test func watcherGetsLimitedPortions() throws {
        let log = Self.log(10_000, byteCountMax: 100 << 20)
        let events = try #require(log.events(after: 100))
        #expect(events.count == (64 << 10) / Self.eventByteCount && events.first?.number == 101)
    }

    @Test func thousandIdleWatchersNeedNoMemory() {
        var log = EventLog(byteCountMax: 100_000)
        let watchers = (0..<1000).map { _ in log.watch() }
        for _ in 0..<10_000 { log.append(.reachability(Self.view)) }
        #expect(log.byteCount <= 100_000)
        for watcher in watchers {
            guard case .lost = log.turn(of: watcher, after: 0) else {
                Issue.record("a watcher with a gap is not told that it lost events")
                return
            }
        }
    }

    @Test func endedWatchGetsNoMoreEvents() {
        var log = EventLog()
        let (gone, finished) = (log.watch(), log.watch())
        log.append(.reachability(Self.view))
        log.unwatch(gone)
        log.finish()
        log.append(.reachability(Self.view))
        guard case .ended = log.turn(of: gone, after: 0), case .events(let events) = log.turn(of: finished, after: 0),
            case .ended = log.turn(of: finished, after: 1)
        else {
            Issue.record("an ended watch went on")
            return
        }
        #expect(events.map(\.number) == [1])
    }

    @Test func engineReportsEventsInOrder() async {
        let bench = await EngineBench()
        let last = await bench.engine.lastEventNumber
        let (watcher, stream) = await bench.engine.watchEvents()
        let exchange = bench.exchange()
        await bench.park(exchange)
        _ = await bench.engine.command(.retry, exchange.id)
        await bench.fail(exchange)
        _ = await bench.engine.command(.cancel, exchange.id)
        await bench.engine.finishWatching()
        var names: [String] = []
        var numbers: [UInt64] = []
        for await event in stream {
            names.append(event.name)
            numbers.append(event.number)
        }
        #expect(names.first == "request.parked")
        #expect(names.last == "request.ended")
        #expect(names.contains("request.attempted") && names.contains("request.changed"))
        #expect(numbers == Array(last + 1...last + UInt64(numbers.count)))
        #expect(await bench.engine.knowsEvents(after: last))
        #expect(await !bench.engine.knowsEvents(after: 999))
        guard case .ended = await bench.engine.nextEvents(of: watcher, after: 999) else {
            Issue.record("a watch that is over went on")
            return
        }
    }

    @Test func cancelledReaderStopsWaiting() async {
        let bench = await EngineBench()
        let watcher = await bench.engine.watch()
        let reading = Task { await bench.engine.nextEvents(of: watcher, after: await bench.engine.lastEventNumber) }
        reading.cancel()
        guard case .ended = await reading.value else {
            Issue.record("there was nothing to read")
            return
        }
    }
}
