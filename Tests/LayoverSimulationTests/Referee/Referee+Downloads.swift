@testable import LayoverCore

/// Responses that break off and go on.
extension Referee {
    /// Bytes of a response that says of which version it is have come to its client.
    func got(_ bytes: [UInt8], at start: Int, of response: ResponseReader.Response, client: SimulatedClient) {
        guard let tag = response.fields["etag"], !Representation.isPart(bytes, at: start, ofTag: tag) else { return }
        breach("answersAreOfOneVersion", "c\(client.number) gets bytes at \(start) that are not those of \(tag)")
    }

    /// An attempt asks for the rest of a representation.
    func asksForTheRest(_ attempt: SimulatedAttempt, from start: Int, _ condition: String?) {
        let download = attempt.truth.download
        simulation.count("requests for a rest")
        if !download.canGoOn { breach("onlyWhatCanGoOnGoesOn", "\(attempt.name) asks for the rest of what it cannot be sure of") }
        if condition != download.representation?.tag {
            breach("theRestIsAskedForOnCondition", "\(attempt.name): If-Range \(condition ?? "is missing")")
        }
        if start != download.doneCount { breach("nothingIsAskedForTwice", "\(attempt.name): from \(start), \(download.doneCount) came") }
        attempt.truth.download.restCount += 1
    }

    /// An attempt asks for all of a response.
    func asksForAll(_ attempt: SimulatedAttempt) {
        let download = attempt.truth.download
        guard attempt.isOfTicket, download.isBroken else { return }
        breach("whatCanGoOnGoesOn", "\(attempt.name) asks for all, \(download.doneCount) bytes came")
    }

    /// A response that broke off and can go on reaches its client whole, unless something ends it that may.
    func whatCanGoOnGoesOn(_ truth: RequestTruth, _ client: SimulatedClient) {
        guard client.sawTruncation, truth.download.isBroken, !truth.mayHaveOtherReaders else { return }
        if let end = endOfDownload(truth) { return simulation.count("downloads cut off: \(end)") }
        breach("whatCanGoOnGoesOn", "c\(client.number) is cut off in r\(truth.number), \(truth.download.doneCount) bytes came")
    }

    /// Why its client may be cut off; nil: it must not be.
    private func endOfDownload(_ truth: RequestTruth) -> String? {
        if truth.asksToPass { return "passed" }
        if truth.isCancelAsked || truth.isSettled { return "ended by a person" }
        if simulation.isDraining { return "stopped" }
        if truth.download.isEndedByOrigin { return "ended by its origin" }
        // Abandoned attempts count too: it depends on the seed whether the proxy learns of their failure before it abandons them.
        if let limit = truth.automaticMin, truth.madeCount >= limit { return "no attempts left" }
        guard let parkedAt = truth.firstParkedAt else { return fullAt == simulation.time.now() ? "no room" : nil }
        let now = simulation.time.now()
        if let life = truth.lifetimeMin, now - parkedAt >= life { return "lived too long" }
        if let hold = truth.holdMin, now - max(parkedAt, truth.download.movedAt ?? parkedAt) >= hold { return "waited too long" }
        return nil
    }

    /// An origin that sends less than the rest has broken off, too.
    func partEnded(_ attempt: SimulatedAttempt, _ part: Representation?) {
        let download = attempt.truth.download
        if let part, part == download.representation, download.doneCount < part.byteCount { attemptsStartOver(attempt) }
    }

    /// After 64 KiB of progress the attempts are counted from one again.
    func attemptsStartOver(_ attempt: SimulatedAttempt) {
        let truth = attempt.truth
        guard attempt.hasHead, !attempt.isCancelled, truth.download.broke(at: simulation.time.now()) else { return }
        truth.automaticCount = min(truth.automaticCount, 1)
        truth.madeCount = min(truth.madeCount, 1)
        simulation.count("attempt counts reset")
    }
}
