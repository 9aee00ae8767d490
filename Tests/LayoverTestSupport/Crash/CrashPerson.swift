import Foundation

/// The person of the crash test, who is asked about what is undecided and always says: let it be.
struct CrashPerson {
    let layover: RunningLayover
    let ledger: CrashLedger

    /// Decides what is undecided now.
    func decideOnce() async throws {
        let (admin, ledger) = (layover.admin, ledger)
        _ = try await onOwnThread { try Self.decide(admin.pending("?limit=1000&state=undecided"), admin, ledger) }
    }

    /// Decides until nothing is left.
    func settleAll(within limit: Duration = .seconds(120)) async throws {
        let (admin, ledger) = (layover.admin, ledger)
        try await onOwnThread {
            let deadline = Deadline(in: limit)
            let events = try admin.events()
            while true {
                let listing = try admin.pending("?limit=1000")
                if listing.counts.values.reduce(0, +) == 0 { return }
                // An entry that waits for another one needs a decision about that one. Every other waiting entry
                // needs time.
                if listing.data.allSatisfy({ $0.state == "undecided" || $0.waitsForOthers }),
                    try Self.decide(listing, admin, ledger) > 0
                {
                    continue
                }
                do { _ = try events.next(by: deadline) } catch {
                    throw ProcessError("Not settled within \(limit). Pending: \(listing.counts) \(listing.data.prefix(5))")
                }
            }
        }
    }

    @discardableResult
    private static func decide(_ listing: PendingListing, _ admin: AdminClient, _ ledger: CrashLedger) throws -> Int {
        let undecided = listing.data.filter { $0.state == "undecided" }
        for entry in undecided {
            ledger.asked(about: entry.url, why: entry.why ?? "")
            let response = try admin.call("POST", "/v1/pending/\(entry.id)/cancel")
            guard response.status == 200 else {
                throw ProcessError("Cancelling \(entry): \(response.status) \(response.text)")
            }
        }
        return undecided.count
    }
}

extension PendingListing.Entry {
    /// True if the entry waits only for others of its lane or for its parents.
    var waitsForOthers: Bool { state == "waiting" && (waitingFor == "lane" || waitingFor == "parent") }
}
