/// Responses that break off and go on.
extension Referee {
    /// Bytes of a response that says of which version it is have come to its client.
    func got(_ bytes: [UInt8], at start: Int, of answer: AnswerReader.Answer, client: SimulatedClient) {
        guard let tag = answer.fields["etag"], !Representation.isPart(bytes, at: start, ofTag: tag) else { return }
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

    /// After 64 KiB of progress the attempts are counted from one again.
    func attemptsStartOver(_ attempt: SimulatedAttempt) {
        let truth = attempt.truth
        guard attempt.hasHead, !attempt.isCancelled, truth.download.broke(at: simulation.time.now()) else { return }
        truth.automaticCount = min(truth.automaticCount, 1)
        truth.madeCount = min(truth.madeCount, 1)
        simulation.count("attempt counts reset")
    }
}
