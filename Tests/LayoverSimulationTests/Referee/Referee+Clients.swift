import NIOCore

@testable import LayoverCore
@testable import LayoverEngine
@testable import LayoverProxy

/// Clients that are gone, and what they leave behind. Contract: section 2 of the semantics, "When a client is gone".
extension Referee {
    /// After each fact.
    func unattendedEntriesAreLimited(_ pending: PendingSet) {
        let all = pending.entries.those(\.isUnattended)
        let entries = all.filter { !$0.isAwaitedByOthers }
        if entries.count != pending.unattendedCount || entries.count != pending.unattended.count {
            breach("countsMatchTheEntries", "\(pending.unattendedCount) unattended, really \(entries.count)")
        }
        if entries.count > pending.limits.unattendedCountMax { breach("unattendedEntriesAreLimited", "\(entries.count) go on") }
        if !entries.isEmpty { simulation.count("unattended entries") }
        if all.count != entries.count { simulation.count("entries that others wait for") }
        for entry in all where entry.state != .attempting || entry.client.isConnected || entry.incident != nil {
            breach("unattendedEntriesOnlyAttempt", name(entry))
        }
    }

    /// An attempt goes on without its client only where it may have been applied, and where an entry limits its time; or where others
    /// with its key wait for the response.
    ///
    /// Its time is counted from the first look after the client left, so the entry is not asked for it.
    func attemptsWithoutAClientHaveAnOwner(_ pending: PendingSet) {
        for lane in simulation.lanes {
            for attempt in lane.worker.inOrder where !attempt.isCancelled {
                guard let exchange = attempt.attempt.receiver as? Exchange, let client = exchange.client, client.isGone else { continue }
                let truth = attempt.truth
                if client.isSharing {
                    sharedResponsesHaveReaders(attempt)
                    continue
                }
                if ["GET", "HEAD", "CONNECT"].contains(truth.method) || !attempt.askers.contains(where: \.isWhole) {
                    breach("attemptsEndWithTheirClients", "\(attempt.name) \(truth.method) goes on")
                }
                if !attempt.attempt.hasBegunSending.load(ordering: .relaxed) {
                    breach("attemptsEndWithTheirClients", "\(attempt.name) goes on, and nothing of it was sent")
                }
                if attempt.hasHead { breach("unattendedAttemptsEndWithTheHead", attempt.name) }
                guard let entry = exchange.entry.flatMap({ pending.entries[$0] }) else {
                    breach("attemptsWithoutAClientHaveAnOwner", "\(attempt.name) is no entry")
                    continue
                }
                // An entry that is being stored has the lifetime of a ticket.
                guard entry.isUnattended else { continue }
                let now = simulation.time.now()
                if entry.isAwaitedByOthers {
                    attempt.unattendedSince = nil
                    if now > entry.expiresAt { breach("unattendedEntriesAreLimited", "\(name(entry)) is not asked about") }
                    continue
                }
                let since = attempt.unattendedSince ?? now
                attempt.unattendedSince = since
                if now > since + truth.unattendedMax || now > entry.expiresAt {
                    breach("unattendedEntriesAreLimited", "\(name(entry)) goes on for \(now - since)")
                }
            }
        }
    }

    /// A response is read for others only while one of them waits for it.
    private func sharedResponsesHaveReaders(_ attempt: SimulatedAttempt) {
        simulation.count("responses read for others")
        let isAwaited = simulation.clients.contains { client in
            !client.isClosed
                && client.unanswered.contains { other in
                    (other === attempt.truth || other.original === attempt.truth) && !attempt.askers.contains { $0 === other }
                }
        }
        if !isAwaited { breach("sharedResponsesHaveReaders", "\(attempt.name) is read for nobody") }
    }

    /// A FIN of close(2) is told from one of shutdown(2), in time.
    func closedSocketsAreNoticed() {
        for client in simulation.clients {
            guard !client.isClosed, let closedAt = client.socketClosedAt else { continue }
            let age = simulation.time.deadline - closedAt
            guard age > client.noticedWithin else { continue }
            breach("closedSocketsAreNoticed", "c\(client.number) closed its socket \(age.nanoseconds / 1_000_000) ms ago")
        }
    }
}
