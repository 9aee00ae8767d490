import Testing

@testable import LayoverCore

/// Entries that wait for a person's decision, and the commands that decide.
struct UndecidedTests {
    private static let risk = EntryCommand.duplicateRisk
    private var bench = PendingBench()

    private mutating func asking(_ reason: UndecidedReason) -> EntryID {
        bench.parked(
            reason == .maybeApplied ? .reset : .refused, delay: .zero, policy: .fixture { $0.onExhausted = .ask },
            asks: reason)
    }

    @Test(arguments: UndecidedReason.allCases)
    mutating func undecidedEntryIsSentOnlyByAPerson(reason: UndecidedReason) {
        let id = asking(reason)
        #expect(bench.reports == [.parked, .changed])
        let entry = bench.entry(id)
        #expect(entry?.state == .undecided)
        #expect(entry?.why == reason)
        #expect(entry?.waitingFor == nil)
        #expect(entry?.nextAttemptAt == nil)
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.reachable() == [])
        #expect(bench.originAnswered().compactMap(\.started) == [])
        #expect((bench.mode(.offline) + bench.mode(.auto)).compactMap(\.started) == [])
        #expect(bench.state(id) == .undecided)
    }

    @Test(arguments: UndecidedReason.allCases)
    mutating func undecidedEntryExpires(reason: UndecidedReason) {
        let id = asking(reason)
        #expect(bench.wait(.seconds(599)) == [])
        #expect(bench.wait(.seconds(1)).first == .end(id, .expired))
        #expect(bench.state(id) == .expired)
        #expect(bench.entry(id)?.why == nil)
    }

    @Test(arguments: UndecidedReason.allCases)
    mutating func undecidedEntryEndsWhenTheProxyDrains(reason: UndecidedReason) {
        let id = asking(reason)
        #expect(bench.drain() == [.end(id, .draining)])
    }

    // MARK: exhausted

    @Test mutating func retrySendsAnExhaustedEntry() {
        let id = asking(.exhausted)
        #expect(bench.command(.retry, id) == (.done, [.start(id, .admin)]))
        #expect(bench.entry(id)?.why == nil)
        // It asks again when that comes to nothing.
        _ = bench.fail(id, asks: .exhausted, rule: .onExhausted)
        #expect(bench.entry(id)?.why == .exhausted)
        #expect(bench.command(.force, id, acknowledgement: Self.risk) == (.conflict, []))
    }

    /// Regression: a retry that the network cut off made its entry undecided again.
    @Test mutating func retryAbandonedByANetworkChangeIsRepeated() {
        let id = asking(.exhausted)
        _ = bench.command(.retry, id)
        #expect(bench.reachable() == [.abandonConnecting(id)])
        let cutOff = Failure.fixture(.proxyInternalError, phase: .connecting)
        #expect(bench.fail(id, cutOff, delay: .zero, rule: .networkChanged) == [.start(id, .admin)])
    }

    // MARK: maybeApplied

    @Test mutating func onlyForceSendsAnEntryThatMayHaveBeenApplied() {
        let id = asking(.maybeApplied)
        for command in [EntryCommand.retry, .hold, .release] {
            #expect(bench.command(command, id, acknowledgement: Self.risk) == (.conflict, []))
        }
        for words in [nil, "", "yes", "Duplicate-Risk"] as [String?] {
            #expect(bench.command(.force, id, acknowledgement: words) == (.unacknowledged, []))
        }
        #expect(bench.entry(id)?.revision == 2)
        #expect(bench.command(.force, id, revision: 1, acknowledgement: Self.risk) == (.stale, []))
        #expect(bench.command(.force, id, revision: 2, acknowledgement: Self.risk) == (.done, [.start(id, .admin)]))
        #expect(bench.deliver(id) == [.forgotten()])
    }

    @Test mutating func failedForceLeavesTheEntryUndecided() {
        let id = asking(.maybeApplied)
        _ = bench.command(.force, id, acknowledgement: Self.risk)
        _ = bench.fail(id, .refused, asks: .maybeApplied, rule: .onMaybeApplied)
        #expect(bench.entry(id)?.why == .maybeApplied)
        #expect(bench.wait(.seconds(60)) == [])
        #expect(bench.command(.retry, id) == (.conflict, []))
        #expect(bench.command(.force, id, acknowledgement: Self.risk) == (.done, [.start(id, .admin)]))
    }

    @Test mutating func forceAbandonedByANetworkChangeLeavesTheEntryUndecided() {
        let id = asking(.maybeApplied)
        _ = bench.command(.force, id, acknowledgement: Self.risk)
        #expect(bench.reachable() == [.abandonConnecting(id)])
        // Its exchange asks: once may have been applied, always may have been applied.
        let cutOff = Failure.fixture(.proxyInternalError, phase: .connecting)
        #expect(bench.fail(id, cutOff, asks: .maybeApplied, rule: .onMaybeApplied) == [])
        #expect(bench.state(id) == .undecided)
        #expect(bench.wait(.seconds(60)) == [])
    }

    @Test mutating func forceWaitsForTheNetwork() {
        let id = asking(.maybeApplied)
        _ = bench.mode(.offline)
        #expect(bench.command(.force, id, acknowledgement: Self.risk) == (.done, []))
        #expect(bench.state(id) == .waiting)
        #expect(bench.mode(.auto) == [.start(id, .admin)])
    }

    // MARK: Every command in every state

    /// The commands of the contract's section 3, by state.
    private static let allowed: [(String, Set<EntryCommand>)] = [
        ("waiting", [.retry, .cancel, .hold, .settle]), ("attempting", [.cancel, .abort]),
        ("held", [.retry, .cancel, .release, .settle]), ("exhausted", [.retry, .cancel, .settle]),
        ("maybeApplied", [.force, .cancel, .settle]), ("delivered", []), ("cancelled", []), ("expired", []), ("failed", []),
    ]

    private mutating func entry(_ name: String) -> EntryID {
        if let reason = UndecidedReason(rawValue: name) { return asking(reason) }
        let id = bench.parked(.reset, policy: .fixture { $0.holdMax = .seconds(60) })
        switch name {
        case "attempting": _ = bench.command(.retry, id)
        case "held": _ = bench.command(.hold, id)
        case "cancelled": _ = bench.command(.cancel, id)
        case "expired": _ = bench.wait(.seconds(1)) + bench.fail(id, delay: .seconds(70)) + bench.wait(.seconds(60))
        case "delivered", "failed": _ = bench.end(id, as: EntryState(rawValue: name) ?? .failed)
        default: break
        }
        return id
    }

    @Test(arguments: EntryCommand.allCases)
    mutating func commandIsAllowedInTheStatesOfTheContract(command: EntryCommand) {
        for (name, allowed) in Self.allowed {
            bench = PendingBench()
            let id = entry(name)
            #expect(Set(bench.entry(id)?.actions ?? []) == allowed, "\(name)")
            let before = bench.entry(id)?.revision
            let (result, actions) = bench.command(command, id, acknowledgement: Self.risk)
            #expect(result == (allowed.contains(command) ? .done : .conflict), "\(name)")
            if result == .conflict { #expect(actions == [] && bench.entry(id)?.revision == before, "\(name)") }
            if result == .done { #expect(bench.entry(id)?.revision != before, "\(name)") }
        }
    }
}
