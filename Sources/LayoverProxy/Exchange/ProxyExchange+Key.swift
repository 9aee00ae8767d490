import LayoverCore
import LayoverEngine
import NIOCore

/// A request with an `Idempotency-Key` whose client takes a ticket: whether there is one already is looked for before
/// the first attempt, so that nothing is sent twice.
extension ProxyExchange {
    /// - Returns: False where there is nothing to look for.
    func looksForItsKey() -> Bool {
        guard let key = ticket?.digest?.key, let store = loop.engine.store else { return false }
        phase = .looking
        // What is on its way to the disk counts too.
        store.commit([]) { [self] _ in
            store.ticket(ofKey: key) { result in
                self.loop.eventLoop.execute { self.lookedForKey(result) }
            }
        }
        return true
    }

    private func lookedForKey(_ result: Result<MarkedTicket?, StoreFailure>) {
        guard phase == .looking else { return }
        // A store that cannot be read makes no tickets; requests go through all the same.
        guard case .success(let found?) = result else { return beginTrying() }
        ticket?.known = found
        // Whether it is the same request says all of its body, of which nothing need be kept.
        request.body?.breakOff()
        request.body = nil
        sendContinue()
        if isReceivingRequest { connection?.resumeBody() } else { answerKnownKey() }
    }

    func answerKnownKey() {
        guard phase == .looking, let known = ticket?.known else { return }
        guard ticket?.digest?.mark.payload == known.payload else {
            if let problem = Problem(.keyReused) { fail(problem) }
            return
        }
        Task { [self] in
            let result = await TicketLook(engine: loop.engine, id: known.id).look()
            loop.eventLoop.execute { self.answerAgain(known.id, result) }
        }
    }

    private func answerAgain(_ id: EntryID, _ result: TicketLook.Result) {
        guard phase == .looking else { return }
        answer(
            .accepted(
                id, base: ticket?.base ?? "", applied: ticket?.wish.applied ?? "",
                document: .acceptedBefore(id, result) { [loop] in loop.wall($0) }))
    }
}
