import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverEngine

struct EventLogTests {
    private static let view = Reachability(hasProbe: false, now: Timestamp(nanoseconds: 0)).view

    private static func log(_ count: Int) -> EventLog {
        var log = EventLog()
        for _ in 0..<count { log.append(.reachability(view)) }
        return log
    }

    @Test func numbersHaveNoGap() {
        #expect(Self.log(3).events(after: 0)?.map(\.number) == [1, 2, 3])
    }

    @Test func aWatcherCatchesUpOnWhatItMissed() {
        #expect(Self.log(5).events(after: 3)?.map(\.number) == [4, 5])
        #expect(Self.log(5).events(after: 5)?.isEmpty == true)
        #expect(Self.log(0).events(after: 0)?.isEmpty == true)
    }

    @Test func whatIsForgottenOrFromAnotherRunCannotBeCaughtUpOn() {
        let log = Self.log(2001)
        #expect(log.events(after: 2000)?.count == 1)
        #expect(log.events(after: 1001)?.count == 1000)
        #expect(log.events(after: 1000) == nil)
        #expect(log.events(after: 2002) == nil)
        #expect(log.events(after: .max) == nil)
    }

    @Test func memoryIsBounded() {
        let log = Self.log(10_000)
        #expect((log.events(after: 9000)?.count ?? 0) == 1000)
        #expect(log.events(after: 7999) == nil)
    }

    @Test func aWatcherThatReadsTooSlowlyIsDropped() async {
        var log = EventLog()
        let (_, slow) = log.watch()
        for _ in 0..<10_001 { log.append(.reachability(Self.view)) }
        var count = 0
        for await _ in slow { count += 1 }
        #expect(count == 10_000, "its stream ends instead of having a gap")
    }

    @Test func anUnwatchedStreamEnds() async {
        var log = EventLog()
        let (number, stream) = log.watch()
        log.append(.reachability(Self.view))
        log.unwatch(number)
        log.append(.reachability(Self.view))
        var numbers: [UInt64] = []
        for await event in stream { numbers.append(event.number) }
        #expect(numbers == [1])
    }

    @Test func anEngineTellsWhatHappensInOrder() async {
        let bench = await EngineBench()
        let (_, snapshot, missed, last, stream) = await bench.engine.watch(after: nil)
        #expect(snapshot?.isEmpty == true)
        #expect(missed.isEmpty)
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
        let again = await bench.engine.watch(after: last)
        #expect(again.missed.map(\.number) == numbers)
        #expect(again.snapshot == nil)
        #expect(await bench.engine.watch(after: 999).snapshot != nil)
    }
}
