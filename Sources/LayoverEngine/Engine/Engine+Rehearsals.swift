package import LayoverCore
import Logging

/// Outages that are played. See `RehearsedUpstream`, which plays them.
extension Engine {
    /// The oldest first.
    package func currentRehearsals() -> [Rehearsal] {
        let now = clock.now()
        return rehearsals.current.filter { !$0.isOver(at: now) }
    }

    package func rehearse(_ order: RehearsalOrder, by author: CommandAuthor = .loopback) throws(RehearsalRefusal) -> Rehearsal {
        let now = clock.now()
        endRehearsals(now: now)
        let rehearsal = try rehearsals.begin(order, now: now)
        log("a rehearsal began: an outage is played", rehearsal, by: author)
        rehearsalsChanged()
        return rehearsal
    }

    /// - Returns: The rehearsal; nil: there is none with this number.
    package func stopRehearsal(_ number: Int, by author: CommandAuthor = .loopback) -> Rehearsal? {
        let now = clock.now()
        endRehearsals(now: now)
        guard let rehearsal = rehearsals.stop(number, now: now) else { return nil }
        log("a rehearsal was stopped", rehearsal, by: author)
        rehearsalsChanged()
        return rehearsal
    }

    /// Ends those whose time is over.
    func endRehearsals(now: Timestamp) {
        let over = rehearsals.advance(to: now)
        guard !over.isEmpty else { return }
        for rehearsal in over { log("a rehearsal is over", rehearsal, by: nil) }
        rehearsalsChanged()
    }

    private func rehearsalsChanged() {
        rehearsalBoard.show(rehearsals.current)
        for loop in loops { loop.setRehearsals(rehearsals.current) }
        reporter.events.append(.rehearsals(rehearsals.current))
        armTimer()
    }

    /// A warning: whoever looks for the reason of failures must not overlook that they are played.
    private func log(_ words: Logger.Message, _ rehearsal: Rehearsal, by author: CommandAuthor?) {
        var metadata: Logger.Metadata = [
            "rehearsal": "\(rehearsal.number)", "host": "\(rehearsal.order.host)", "fault": "\(rehearsal.order.fault.rawValue)",
        ]
        if let author { metadata["who"] = "\(author.who)" }
        if let from = author?.from { metadata["from"] = "\(from)" }
        logger.warning(words, metadata: metadata)
    }
}
