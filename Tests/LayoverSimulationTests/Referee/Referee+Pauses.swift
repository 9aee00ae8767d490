@testable import LayoverCore

/// Pauses: effects of a status of an origin on other requests to it.
extension Referee {
    func checkPauses(_ started: [Entry], _ pending: PendingSet, isReloaded: Bool) {
        for entry in started {
            pausesAreKept(entry, pending)
            windowsAfterPausesAreKept(entry, pending)
            // A reload gives back what a retry took by the policy of before.
            if !isReloaded { statusRetriesArePaidFor(entry) }
        }
        budgetsAreBalanced(pending)
        pausesCountTheirAttempts(pending)
        pauses = pending.origins.states.mapValues { $0.pacings.compactMapValues(\.pause) }
    }

    /// No pause kept back an entry that was under way when it joined.
    private func joinedUnderWay(_ entry: Entry) -> Bool { seen[entry.id] == nil && !entry.isNeverSent }

    private func pausesAreKept(_ entry: Entry, _ pending: PendingSet) {
        guard let pause = pauses[entry.origin]?[entry.policy.name], pause.end > simulation.time.now(),
            entry.canWait(until: pause.end), !joinedUnderWay(entry)
        else { return }
        simulation.count("pauses")
        // A response may have ended it with this fact.
        guard let now = pending.origins.states[entry.origin]?.pacings[entry.policy.name]?.pause,
            now.end > simulation.time.now()
        else { return }
        if !isAsked(entry) {
            breach("pausesAreKept", "\(name(entry)) goes \(pause.end - simulation.time.now()) before the end")
        } else if now.underWay > 1 {
            breach("pausesAreKept", "\(name(entry)) is one of \(now.underWay) before the end")
        }
    }

    private func windowsAfterPausesAreKept(_ entry: Entry, _ pending: PendingSet) {
        guard let pause = pending.origins.states[entry.origin]?.pacings[entry.policy.name]?.pause,
            pause.end <= simulation.time.now(), entry.attempt?.pause == pause.number,
            entry.canWait(until: pause.end)
        else { return }
        if pause.underWay > pause.window {
            breach("windowsAfterPausesAreKept", "\(pause.underWay) to \(entry.origin), the window is \(pause.window)")
        }
    }

    private func statusRetriesArePaidFor(_ entry: Entry) {
        guard entry.owesBudget, entry.grant == nil, entry.attempt?.isAskedFor == false,
            entry.policy.budget?.whenSpent == .wait
        else { return }
        breach("statusRetriesArePaidFor", name(entry))
    }

    private func budgetsAreBalanced(_ pending: PendingSet) {
        for (origin, line) in pending.origins.states {
            for (policy, budget) in line.pacings.compactMapValues(\.budget) {
                let count = pending.entries.count {
                    $0.origin == origin && $0.policy.name == policy && $0.grant == .minimum
                }
                if budget.minimumInUse != count {
                    breach(
                        "budgetsAreBalanced",
                        "\(origin) \(policy): \(budget.minimumInUse) in use, really \(count)")
                }
            }
        }
    }

    private func pausesCountTheirAttempts(_ pending: PendingSet) {
        for (origin, line) in pending.origins.states {
            for (policy, pause) in line.pacings.compactMapValues(\.pause) {
                let count = pending.entries.count { $0.origin == origin && $0.attempt?.pause == pause.number }
                if pause.underWay != count {
                    breach("pausesCountTheirAttempts", "\(origin) \(policy): \(pause.underWay), really \(count)")
                }
                if let before = pauses[origin]?[policy], before.number == pause.number,
                    pause.window > (before.window == 1 ? 8 : before.window + 1)
                {
                    breach("windowsGrowByOne", "\(origin) \(policy): \(pause.window)")
                }
            }
        }
    }
}
