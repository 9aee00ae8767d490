@testable import LayoverCore
@testable import LayoverEngine
@testable import LayoverProxy
@testable import LayoverTestSupport

/// Tickets: what was promised when they were accepted, held against the disk and the world.
extension Referee {
    // MARK: What clients are told

    /// A client holds a 202 in its hands.
    func ticketAnnounced(_ response: ResponseReader.Response, _ asker: RequestTruth) {
        guard response.status == 202, response.requestNumber == nil,
            let id = response.fields["location"]?.split(separator: "/").last.flatMap({ EntryID($0) })
        else { return }
        simulation.count("tickets")
        let truth = asker.original ?? asker
        if asker.original != nil { simulation.count("repetitions") }
        ticketIsAnnouncedOnlyOnceItIsStored(id, truth)
        oneKeyIsOneTicket(id, truth)
        if truth.ticket == nil { simulation.told.append(truth) }
        truth.ticket = id
    }

    private func ticketIsAnnouncedOnlyOnceItIsStored(_ id: EntryID, _ truth: RequestTruth) {
        if simulation.rows[id] == nil {
            breach("ticketIsAnnouncedOnlyOnceItIsStored", "r\(truth.number) is told of \(id)")
        }
    }

    private func oneKeyIsOneTicket(_ id: EntryID, _ truth: RequestTruth) {
        if let before = truth.ticket, before != id {
            breach("oneKeyIsOneTicket", "r\(truth.number) is \(before), and now \(id)")
        }
    }

    func answered(_ question: TicketAsk, _ response: ResponseReader.Response) {
        simulation.count("questions")
        let name = "r\(question.of.number)"
        switch response.status {
        case 404 where response.requestNumber == nil:
            breach("nothingAcceptedIsLost", "\(name) is unknown to its client")
        case 204 where question.kind == .drop:
            question.of.isCancelTold = true
        default: break
        }
        if question.kind == .response, let number = response.requestNumber, number != question.of.number {
            breach("ticketsKeepTheirAnswers", "\(name) has the answer to r\(number)")
        }
    }

    /// A person, or its client, cancelled a ticket: told so once that is on disk.
    func cancelled(_ entry: Entry) {
        guard entry.ticket != nil, !entry.isBeingStored, let truth = simulation.truth(of: entry),
            let engine = simulation.engine
        else { return }
        let id = entry.id
        let tell = Unchecked { [weak self] (isSaved: Bool) in
            if isSaved { truth.isCancelTold = true }
            self?.simulation.trace { "the cancel of r\(truth.number) is \(isSaved ? "" : "not ")told" }
        }
        Task { tell.value(await engine.waitUntilSaved(id)) }
    }

    /// A person settled an entry: told so once that is on disk, or at once where no disk has it.
    func settled(_ entry: Entry) {
        guard let truth = simulation.truth(of: entry), let engine = simulation.engine else { return }
        truth.isSettled = true
        guard entry.ticket != nil, !entry.isBeingStored else {
            // The client may repeat the request, which is another entry.
            if entry.ticket == nil { truth.settledEntry = entry.id }
            return
        }
        let id = entry.id
        let tell = Unchecked { (isSaved: Bool) in if isSaved { truth.isSettleTold = true } }
        Task { tell.value(await engine.waitUntilSaved(id)) }
    }

    /// A person has retried an entry: told so once that is on disk.
    func retried(_ entry: Entry) {
        guard entry.ticket != nil, !entry.isBeingStored, let truth = simulation.truth(of: entry),
            let engine = simulation.engine
        else { return }
        let (id, life) = (entry.id, simulation.life)
        let tell = Unchecked { [weak self] (isSaved: Bool) in
            guard let self, isSaved, simulation.life == life, asked.contains(id) else { return }
            truth.retryTold = id
        }
        Task { tell.value(await engine.waitUntilSaved(id)) }
    }

    func nothingCancelledIsSent(_ attempt: SimulatedAttempt) {
        if attempt.isTooLate { breach("nothingCancelledIsSent", attempt.name) }
    }

    func nothingSettledStartsAgain(_ attempt: SimulatedAttempt) {
        let entry = (attempt.attempt.receiver as? Exchange)?.entry
        if attempt.truth.isSettleTold || entry.map({ $0 == attempt.truth.settledEntry }) == true {
            breach("nothingSettledStartsAgain", attempt.name)
        }
    }

    // MARK: What the disk takes

    func storeSaid(isTaken: Bool, isMark: Bool) {
        if isTaken { markRefusedAt = nil } else if isMark { markRefusedAt = simulation.time.now() }
    }

    /// While the disk takes no marks tickets stand in nobody's way.
    func noTicketStartsWhileStartRecordsFail(_ entry: Entry) {
        guard let markRefusedAt, entry.ticket != nil, !entry.isBeingStored, !isAsked(entry), !unbidden.contains(entry.id)
        else { return }
        let passed = simulation.time.now() - markRefusedAt
        // In the same moment the engine may not have heard of it.
        if passed > .zero, passed < .seconds(5) { breach("noTicketStartsWhileStartRecordsFail", "\(name(entry)) after \(passed)") }
    }

    // MARK: What is on disk

    /// After a crash the store must show that a byte of the request may have left.
    func startRecordsAreStoredBeforeSending(_ attempt: SimulatedAttempt) {
        guard attempt.isOfTicket, let id = (attempt.attempt.receiver as? Exchange)?.entry else { return }
        let state = simulation.rows[id]?.record.state
        // Cancelled, expired and the like it may be by now.
        if state == .waiting || state == .held || state == .undecided {
            breach("startRecordsAreStoredBeforeSending", "\(attempt.name) is \(state?.rawValue ?? "") on disk")
        }
    }

    /// At any time.
    func nothingAcceptedIsLost(_ truth: RequestTruth, _ pending: PendingSet) {
        guard let id = truth.ticket else { return }
        guard let row = simulation.rows[id] else {
            return breach("nothingAcceptedIsLost", "r\(truth.number) has no row")
        }
        // The engine does not know of it yet.
        if simulation.isStoreClosed { return }
        if !row.record.state.isFinal, !pending.isLive(id), pending.history[id] == nil {
            breach("nothingAcceptedIsLost", "r\(truth.number), \(row.record.state.rawValue) on disk, is forgotten")
        }
    }

    /// At the end of a run each ticket is final, and so is its row.
    func checkTickets() {
        for truth in simulation.told {
            guard let id = truth.ticket else { continue }
            guard let row = simulation.rows[id] else {
                breach("nothingAcceptedIsLost", "r\(truth.number) has no row at the end")
                continue
            }
            if !row.record.state.isFinal, simulation.engine.assumeIsolated({ $0.isSaved(id) }) {
                breach("everyTicketEnds", "r\(truth.number) is \(row.record.state.rawValue) on disk")
            }
            if row.record.state == .delivered, !truth.hasHead, row.record.settledBy == nil {
                breach("deliveredTicketsHaveAResponse", "r\(truth.number) was never answered")
            }
            ticketsEndForAReason(truth, row.record)
        }
    }

    /// A ticket that was not delivered ended by the word of somebody, or because trying again is of no use.
    private func ticketsEndForAReason(_ truth: RequestTruth, _ record: TicketRecord) {
        simulation.count("\(record.state.rawValue) tickets")
        let isRight =
            switch record.state {
            case .cancelled: truth.isCancelAsked || record.supersededBy != nil
            case .expired: record.expiresAt <= record.endedAt ?? record.createdAt
            case .failed: record.lastFailure.map { isOfNoUse($0, truth) } ?? false
            case .waiting, .attempting, .held, .undecided, .delivered: true
            }
        if !isRight {
            breach(
                "ticketsEndForAReason",
                "r\(truth.number) is \(record.state.rawValue): \(record.lastFailure?.kind.rawValue ?? "-")")
        }
    }

    /// True if a failure may end a ticket.
    private func isOfNoUse(_ failure: Failure, _ truth: RequestTruth) -> Bool {
        switch failure.kind {
        case .proxyInternalError, .proxyInternalResponse: truth.isAborted
        case .tlsCertificateError, .httpResponseIncomplete, .parentProxyDenied: true
        case .dnsError where failure.isNameUnknown: true
        default: truth.hasBeenLimited
        }
    }

    // MARK: Order

    /// An entry that goes is the first of its lane, but for those that are passed over.
    func lanesKeepOrder(_ entry: Entry, _ pending: PendingSet) {
        // The first attempt was under way before its lane was known.
        let wasUnderWay = entry.ticket == nil && !entry.isNeverSent && seen[entry.id] == nil
        guard let lane = entry.lane, !wasUnderWay else { return }
        simulation.count("lane starts")
        for other in pending.entries.values where other.lane == lane && other.sequence < entry.sequence {
            if other.state == .undecided, other.policy.undecidedInLane == .skip { continue }
            breach("lanesKeepOrder", "\(name(entry)) goes before \(name(other)) in \(lane)")
        }
    }

    /// While the store is not open it is unknown which request of a lane comes first, whichever it is.
    func lanesWaitForTheStore(_ attempt: SimulatedAttempt) {
        guard simulation.isStoreClosed, let lane = attempt.truth.order.lane else { return }
        breach("lanesWaitForTheStore", "\(attempt.name) of lane \(lane) starts, and the store is not open")
    }

    /// A request whose key has a ticket is not sent: its client gets that ticket, or is told that the store cannot be searched.
    func keysOfTicketsAreFound(_ attempt: SimulatedAttempt) {
        guard attempt.truth.hasKey, let ticket = attempt.truth.ticket, let exchange = attempt.attempt.receiver as? Exchange,
            exchange.entry != ticket
        else { return }
        breach("keysOfTicketsAreFound", "\(attempt.name) is sent beside its ticket")
    }

    func childrenFollowTheirParents(_ attempt: SimulatedAttempt) {
        let truth = attempt.truth
        // Without its ticket it is one request like others until it becomes one.
        guard !truth.order.after.isEmpty, attempt.isOfTicket else { return }
        simulation.count("children")
        for parent in truth.order.after where !truth.excusedParents.contains(parent.number) {
            let state = lastState(of: parent)
            if state != .delivered || !parent.hasHead && !parent.isSettled {
                breach(
                    "childrenFollowTheirParents",
                    "\(attempt.name) goes, r\(parent.number) is \(state?.rawValue ?? "lost")")
            }
        }
    }

    private func lastState(of truth: RequestTruth) -> EntryState? {
        guard let id = truth.ticket else { return nil }
        let pending = simulation.engine.assumeIsolated { $0.pending }
        return pending.entry(id, now: simulation.time.now())?.state ?? simulation.rows[id]?.record.state
    }

    /// A person retries a child that asks because of its parents: the word does for those that have ended.
    func excuseParents(of entry: Entry) {
        guard entry.why == .parentFailed || entry.why == .maybeApplied, let truth = simulation.truth(of: entry) else { return }
        for parent in truth.order.after {
            if let state = lastState(of: parent), state.isFinal, state != .delivered {
                truth.excusedParents.insert(parent.number)
            }
        }
    }
}
