import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

struct OriginGateTests {
    private var generator = SeededGenerator(seed: 1)
    private let delay = Policy.fixture().delay
    private let start = Timestamp.at(.seconds(100))
    private var gate = OriginGate(windowMax: 8)

    private mutating func fail(isFromCanary: Bool = false, at now: Timestamp? = nil) {
        gate.failed(isFromCanary: isFromCanary, delay: delay, now: now ?? start, using: &generator)
    }

    private func room(_ gate: OriginGate, freshUnderWay: Int = 0, at now: Timestamp? = nil) -> Int {
        (0...100).first { !gate.admits(underWay: $0, freshUnderWay: freshUnderWay, now: now ?? start) }
            ?? .max
    }

    @Test func aNewGateIsOpenAsWideAsTheLimit() {
        #expect(!gate.isShut)
        #expect(room(gate) == 8)
        #expect(room(gate, freshUnderWay: 5) == 3)
        // However many fresh requests there are, the backlog makes progress.
        #expect(room(gate, freshUnderWay: 9) == 1)
        #expect(room(OriginGate(windowMax: 0)) == 1)
    }

    @Test mutating func aShutGateLetsOneCanaryThroughWhenItsDelayIsOver() {
        fail()
        #expect(gate.isShut)
        #expect(gate.canaryAt == start + .seconds(1))
        #expect(room(gate) == 0)
        #expect(room(gate, at: start + .seconds(1)) == 1)
        // Fresh attempts never wait for it, so it does not wait for them either.
        #expect(room(gate, freshUnderWay: 50, at: start + .seconds(1)) == 1)
    }

    @Test mutating func delaysGrowWithEachCanaryThatFails() {
        var delays: [Duration] = []
        var now = start
        for attempt in 0..<7 {
            fail(isFromCanary: attempt > 0, at: now)
            let canaryAt = gate.canaryAt ?? .distantFuture
            delays.append(canaryAt - now)
            now = canaryAt
        }
        #expect(delays == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
    }

    @Test mutating func failureOfAnAttemptOlderThanTheShutGateIsIgnored() {
        fail()
        fail(at: start + .seconds(20))
        #expect(gate.canaryAt == start + .seconds(1))
        #expect(gate.failureCount == 1)
    }

    @Test mutating func windowStartsSmallAndGrowsWithEachResponse() {
        gate = OriginGate(windowMax: 4)
        fail()
        gate.answered()
        #expect(!gate.isShut)
        #expect(gate.canaryAt == nil)
        var rooms = [room(gate)]
        for _ in 0..<4 {
            gate.answered()
            rooms.append(room(gate))
        }
        #expect(rooms == [1, 2, 3, 4, 4])
    }

    @Test mutating func delaysOfTheGateStartAgainAfterAResponse() {
        gate = OriginGate(windowMax: 4)
        fail()
        fail(isFromCanary: true)
        gate.answered()
        fail()
        #expect(gate.canaryAt == start + .seconds(1))
    }

    @Test mutating func failureAfterSendingHalvesTheWindowAndNeverShutsTheGate() {
        let rooms = (0..<5).map { _ in
            gate.wentWrong()
            return room(gate)
        }
        #expect(rooms == [4, 2, 1, 1, 1])
        #expect(!gate.isShut)
    }

    @Test mutating func reachabilityHintStartsTheCanaryAndResetsItsDelay() {
        gate.mayBeReachable(now: start)
        #expect(gate.canaryAt == nil)
        for _ in 0..<5 { fail(isFromCanary: true) }
        gate.mayBeReachable(now: start)
        #expect(gate.isShut)
        #expect(room(gate) == 1)
        fail(isFromCanary: true)
        #expect(gate.canaryAt == start + .seconds(1))
    }
}

/// A connection that stands is evidence too.
struct ConnectedGateTests {
    private var generator = SeededGenerator(seed: 1)
    private let now = Timestamp.at(.seconds(100))

    private mutating func shutGate(windowMax: Int = 64) -> OriginGate {
        var gate = OriginGate(windowMax: windowMax)
        gate.failed(isFromCanary: false, delay: Policy.fixture().delay, now: now, using: &generator)
        return gate
    }

    @Test mutating func connectionOpensTheGateForTwo() {
        var gate = shutGate()
        gate.connected()
        #expect(!gate.isShut && gate.isUnconfirmed && gate.window == 2 && gate.canaryAt == nil)
        gate.answered()
        #expect(!gate.isUnconfirmed && gate.window == 3)
    }

    @Test mutating func connectionsAloneOpenTheWindowUpToEight() {
        var gate = shutGate()
        for _ in 0..<20 { gate.connected() }
        #expect(gate.window == 8)
        var narrow = shutGate(windowMax: 1)
        narrow.connected()
        #expect(narrow.window == 1)
    }

    @Test mutating func failedCanaryShutsAnUnconfirmedGateAgain() {
        var gate = shutGate()
        gate.connected()
        gate.failed(isFromCanary: true, delay: Policy.fixture().delay, now: now, using: &generator)
        #expect(gate.isShut && !gate.isUnconfirmed && gate.window == 1 && gate.canaryAt == now + .seconds(2))
    }
}
