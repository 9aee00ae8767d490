extension Entry {
    /// Since when it waits because of the trouble that its last failure speaks of, as far as its timeline goes back.
    var outageBeganAt: Timestamp {
        let run = attempts.records.reversed().prefix { $0.failure?.shutsGate == true }
        return run.last.map { $0.endedAt ?? $0.startedAt } ?? lastFailureAt ?? parkedAt
    }
}
