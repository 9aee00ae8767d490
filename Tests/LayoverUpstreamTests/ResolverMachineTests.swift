import Testing

@testable import LayoverUpstream

/// Which names are looked up, and who hears of it.
struct ResolverMachineTests {
    private var machine: ResolverMachine
    private let found = NameOutcome.addresses("192.0.2.1")
    private static let age = Duration.nanoseconds(100)

    init() {
        var limits = ResolverLimits(nameAgeMax: Self.age)
        limits.runningCountMax = 2
        limits.threadCountMax = 3
        limits.waitingCountMax = 2
        limits.heldCountMax = 2
        machine = ResolverMachine(limits: limits)
    }

    private func answer(
        _ outcome: NameOutcome, askedAt: UInt64, endedAt: UInt64
    ) -> NameAnswer {
        NameAnswer(outcome: outcome, askedAt: askedAt, usableUntil: endedAt + 100)
    }

    @Test mutating func attemptsForANameShareOneLookup() {
        #expect(machine.asked("a", by: 1, notBefore: 0, now: 1) == [.start(lookup: 1, name: "a")])
        for asker in 2...100 {
            #expect(machine.asked("a", by: asker, notBefore: 0, now: 2) == [])
        }
        // A caller that asks twice gets one answer.
        #expect(machine.asked("a", by: 1, notBefore: 0, now: 3) == [])
        #expect(
            machine.ended(1, with: found, now: 5) == [
                .deliver(answer(found, askedAt: 1, endedAt: 5), name: "a", to: Array(1...100))
            ])
    }

    @Test mutating func addressesAreKeptForAWhile() {
        _ = machine.asked("a", by: 1, notBefore: 0, now: 1)
        _ = machine.ended(1, with: found, now: 5)
        let held = answer(found, askedAt: 1, endedAt: 5)
        #expect(machine.asked("a", by: 2, notBefore: 0, now: 104) == [.deliver(held, name: "a", to: [2])])
        #expect(machine.asked("a", by: 2, notBefore: 0, now: 105) == [.start(lookup: 2, name: "a")])
    }

    @Test mutating func answerIsNotGivenAgainAfterAConnectFailure() {
        _ = machine.asked("a", by: 1, notBefore: 0, now: 1)
        _ = machine.ended(1, with: found, now: 5)
        machine.distrusted("a", askedAt: 1)
        #expect(machine.asked("a", by: 1, notBefore: 0, now: 6) == [.start(lookup: 2, name: "a")])
        _ = machine.ended(2, with: found, now: 7)
        // A late failure with the older addresses says nothing about the newer ones.
        machine.distrusted("a", askedAt: 1)
        #expect(machine.asked("a", by: 2, notBefore: 0, now: 8) == [.deliver(answer(found, askedAt: 6, endedAt: 7), name: "a", to: [2])])
    }

    @Test(arguments: [NameFailure.unknown, .noAddress, .noResolver, .refused, .system(24)])
    mutating func failuresAreNotKept(failure: NameFailure) {
        _ = machine.asked("a", by: 1, notBefore: 0, now: 1)
        #expect(
            machine.ended(1, with: .failed(failure), now: 2) == [
                .deliver(answer(.failed(failure), askedAt: 1, endedAt: 2), name: "a", to: [1])
            ])
        #expect(machine.nameCount == 0)
        #expect(machine.asked("a", by: 1, notBefore: 0, now: 3) == [.start(lookup: 2, name: "a")])
    }

    @Test mutating func addressesFromAnOlderNetworkAreNotUsed() {
        _ = machine.asked("a", by: 1, notBefore: 0, now: 1)
        _ = machine.ended(1, with: found, now: 2)
        #expect(machine.asked("a", by: 1, notBefore: 3, now: 4) == [.start(lookup: 2, name: "a")])
        // The other worker has not heard of the change yet: the new response is good for it as well.
        #expect(machine.ended(2, with: found, now: 5).count == 1)
        #expect(machine.asked("a", by: 2, notBefore: 0, now: 6).first?.isDelivery == true)
    }

    @Test mutating func runningLookupOfAnOlderNetworkIsAbandoned() {
        _ = machine.asked("a", by: 1, notBefore: 0, now: 1)
        _ = machine.asked("a", by: 2, notBefore: 0, now: 1)
        #expect(machine.asked("a", by: 1, notBefore: 5, now: 6) == [.start(lookup: 2, name: "a")])
        // The result is too late for every attempt.
        #expect(machine.ended(1, with: .failed(.unknown), now: 7) == [])
        #expect(
            machine.ended(2, with: found, now: 8) == [
                .deliver(answer(found, askedAt: 6, endedAt: 8), name: "a", to: [1, 2])
            ])
    }

    @Test mutating func namesWaitInOrderForAPlace() {
        for (number, name) in ["a", "b", "c", "d"].enumerated() {
            #expect(machine.asked(name, by: 1, notBefore: 0, now: 1).count == (number < 2 ? 1 : 0))
        }
        #expect(machine.waitingCount == 2)
        #expect(machine.ended(2, with: found, now: 2).last == .start(lookup: 3, name: "c"))
        #expect(machine.ended(1, with: found, now: 3).last == .start(lookup: 4, name: "d"))
        #expect(machine.waitingCount == 0)
    }

    @Test mutating func nameOverTheLimitIsRefusedAtOnce() {
        for name in ["a", "b", "c", "d"] { _ = machine.asked(name, by: 1, notBefore: 0, now: 1) }
        let busy = NameAnswer(outcome: .failed(.busy), askedAt: 2, usableUntil: 2)
        #expect(machine.asked("e", by: 1, notBefore: 0, now: 2) == [.deliver(busy, name: "e", to: [1])])
        // A lookup that waits already can be joined.
        #expect(machine.asked("d", by: 2, notBefore: 0, now: 2) == [])
        #expect(machine.nameCount == 4)
    }

    @Test mutating func abandonedNameIsRemovedFromTheWaitingNames() {
        for name in ["a", "b", "c"] { _ = machine.asked(name, by: 1, notBefore: 0, now: 1) }
        _ = machine.asked("c", by: 2, notBefore: 0, now: 1)
        #expect(machine.withdrawn(["c"], by: 1, now: 2) == [])
        #expect(machine.waitingCount == 1)
        #expect(machine.withdrawn(["c"], by: 2, now: 2) == [])
        #expect(machine.waitingCount == 0)
        #expect(machine.nameCount == 2)
    }

    @Test mutating func abandonedLookupTakesNoPlaceButAThread() {
        for name in ["a", "b", "c", "d"] { _ = machine.asked(name, by: 1, notBefore: 0, now: 1) }
        #expect(machine.withdrawn(["a"], by: 1, now: 2) == [.start(lookup: 3, name: "c")])
        // Three threads are all there are.
        #expect(machine.withdrawn(["b"], by: 1, now: 3) == [])
        #expect(machine.runningCount == 3)
        #expect(machine.ended(1, with: found, now: 4) == [.start(lookup: 4, name: "d")])
        // The result of a lookup without waiting attempts is kept too.
        #expect(machine.asked("a", by: 1, notBefore: 0, now: 5).first?.isDelivery == true)
    }

    @Test mutating func withdrawnNamesGetNoPlace() {
        for name in ["a", "b", "c", "d"] { _ = machine.asked(name, by: 1, notBefore: 0, now: 1) }
        #expect(machine.withdrawn(["a", "b", "c"], by: 1, now: 2) == [.start(lookup: 4, name: "d")])
    }

    @Test mutating func abandonedLookupCanBeJoined() {
        _ = machine.asked("a", by: 1, notBefore: 0, now: 1)
        _ = machine.withdrawn(["a"], by: 1, now: 2)
        #expect(machine.asked("a", by: 2, notBefore: 0, now: 3) == [])
        #expect(
            machine.ended(1, with: found, now: 4) == [
                .deliver(answer(found, askedAt: 1, endedAt: 4), name: "a", to: [2])
            ])
    }

    @Test mutating func cancelledAttemptDoesNotWait() {
        for name in ["a", "b", "c", "d"] { _ = machine.asked(name, by: 1, notBefore: 0, now: 1) }
        _ = machine.asked("b", by: 2, notBefore: 0, now: 1)
        #expect(machine.left(1, now: 2).allSatisfy { !$0.isDelivery })
        #expect(machine.waitingCount == 0)
        #expect(machine.ended(2, with: found, now: 3).first?.isDelivery == true)
    }

    @Test mutating func keptAddressesAreBounded() {
        for number in 1...50 {
            _ = machine.asked("name\(number)", by: 1, notBefore: 0, now: UInt64(number))
            _ = machine.ended(UInt64(number), with: found, now: UInt64(number))
            #expect(machine.nameCount <= 2)
        }
    }
}

extension ResolverAction {
    var isDelivery: Bool {
        if case .deliver = self { return true }
        return false
    }
}
