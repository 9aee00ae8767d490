import LayoverCore

/// The state of an entry in words: what it waits for and until when, or how it ended.
struct PresentStateText {
    let entry: Entry
    let reachability: ReachabilityView
    let view: EntryView

    private var wall: WallTime { view.wall }

    var text: String { sentences(state, resumption) }

    private var state: String {
        switch entry.state {
        case .waiting: sentences(waiting, deadline)
        case .attempting where entry.isUnattended: unattended
        case .attempting: "Attempt \(entry.attemptCount + 1) is being sent to \(entry.origin)."
        case .held:
            sentences(
                "Held \(holder): release resumes automatic attempts, retry sends the request now.", reason(of: .hold), deadline)
        case .undecided: sentences(undecided, deadline)
        case .delivered: delivered
        case .cancelled: cancelled
        case .expired: sentences("Expired \(ending): the time limit was reached.", lastFailure)
        case .failed: failed
        }
    }

    /// How far its response is that broke off.
    private var resumption: String? {
        entry.resume.map { "Its response broke off: \($0.done) of \($0.total) bytes have come, resumed=\($0.times)." }
    }

    // MARK: Live

    private var unattended: String {
        guard !entry.isAwaitedByOthers else {
            return "The client disconnected after the request was sent to \(entry.origin). Other requests with its Idempotency-Key "
                + "wait for the outcome, so the attempt goes on."
        }
        return "The client disconnected after the request was sent to \(entry.origin). The attempt goes on until the server answers, "
            + "at most until \(wall.text(of: entry.expiresAt)), so that its outcome is known."
    }

    private var waiting: String {
        switch entry.waitingFor {
        case .network: network
        case .origin: sentences("Waits until \(entry.shutParentProxyGate.map { "the \($0)" } ?? "\(entry.origin)") is reachable.", nextTry)
        case .turn: "The concurrency limit of \(entry.origin) is reached."
        case .lane: sentences("Waits for earlier requests in lane \(entry.shownLane ?? "").", blocker)
        case .parent: "Waits for tickets that it depends on: \(parents)."
        case .pause: pause
        case .time, nil: sentences("Waits for the next attempt.", lastFailure, nextTry)
        }
    }

    private var blocker: String? { entry.waitingOn.map { "The first of them is \(view.shown($0))." } }

    private var pause: String {
        guard let at = entry.nextAttemptAt else {
            return "Waits for the requests before it: few are sent at once, because \(entry.origin) has refused some."
        }
        return "Waits until \(wall.text(of: at)), because \(entry.origin) has asked for a pause."
    }

    private var network: String {
        if reachability.mode == .offline {
            let reason = reachability.reason.map { " (\($0))" } ?? ""
            return "Waits because the mode is offline, set by an admin\(reason)."
        }
        // An entry that is due is sent at once; without a due time it waits for the end of a captive portal.
        if reachability.state == .portal, entry.nextAttemptAt == nil {
            return "Waits because a captive portal answers in place of the origin and must not get the body or credentials."
        }
        return sentences("Waits until the network is up.", nextTry)
    }

    private var nextTry: String {
        guard let at = entry.nextAttemptAt else { return "No automatic attempt is planned." }
        return "The next attempt is due at \(wall.text(of: at))"
            + (entry.waitingFor == .time ? "." : " at the latest.")
    }

    private var undecided: String {
        switch entry.why {
        case .maybeApplied:
            "The server may have processed the request, so it is not resent automatically. Decide with force, cancel or settle."
        case .exhausted:
            // The entries of an outage share its automatic attempts, which the first ones have used up.
            (entry.automaticLeft ?? 0) > 0
                ? "No automatic attempts are left for this outage. Decide with retry or cancel."
                : "No automatic attempts are left. Decide with retry or cancel."
        case .credentialsExpired:
            "The credentials \(credentialsEnd), so the request is not sent automatically. Decide with retry or cancel."
        case .rejected: sentences("The request was not sent. Decide with retry or cancel.", lastFailure)
        case .parentFailed:
            "A ticket that it depends on was not delivered. Decide with retry or cancel."
        case nil: "Waits for a decision."
        }
    }

    private var credentialsEnd: String {
        entry.ticket?.notAfter.map { "expired at \(wall.text(of: $0))" } ?? "have expired"
    }

    private var parents: String {
        (entry.ticket?.parents ?? []).map(view.shown).joined(separator: ", ")
    }

    private var deadline: String {
        if entry.ticket != nil { return "Expires at \(wall.text(of: entry.expiresAt))." }
        return "The client gets a 504 at \(wall.text(of: entry.expiresAt))."
    }

    // MARK: Ended

    private var delivered: String {
        if let settled = entry.settledBy {
            let status = settled.outcome.status.map { " with status \($0)" } ?? ""
            return sentences(
                "Settled \(ending), \(settled.author.text): the server has processed the request\(status).",
                settled.outcome.note.map { "Note: \"\($0)\"." }, reason(of: .settle))
        }
        let response = entry.deliveredStatus.map { "response (\($0))" } ?? "response"
        guard entry.ticket != nil else { return "The client got the \(response) \(ending)." }
        guard entry.attempts.records.last?.brokeOff == true else {
            return "The \(response) arrived \(ending), and is stored until the client deletes it."
        }
        return sentences(
            "The \(response) arrived \(ending), but was cut off: status and fields are stored, the body is not.", lastFailure)
    }

    private var cancelled: String {
        switch entry.cancelCause {
        case .command(let command): sentences("Cancelled \(ending), \(command.author.text).", reason(of: .cancel))
        case .preflight: sentences("Cancelled by the preflight \(ending).", lastFailure)
        case .notAdopted(let obstacle):
            sentences(
                "Cancelled \(ending): the client disconnected, and the request cannot be sent later, because \(obstacle.clause).",
                lastFailure)
        case .superseded(let newer): "Replaced by a newer request \(ending): \(view.shown(newer))."
        case .stopped: "Cancelled \(ending): the proxy stopped."
        case .unattended: sentences("Cancelled \(ending): the client had disconnected after the request was sent.", outcome)
        case .clientLeft: "Cancelled \(ending): the client disconnected."
        case .unknown, nil: "Cancelled \(ending)."
        }
    }

    private var outcome: String {
        if let status = entry.deliveredStatus { return "The server answered with status \(status)." }
        return entry.mayHaveBeenApplied ? "The server may have processed it." : lastFailure ?? ""
    }

    // MARK: Commands

    private var holder: String {
        // A retry of a held request leaves it held, and is the newer command.
        entry.lastCommand.flatMap { $0.name == .hold ? $0.author.text : nil } ?? "by a person"
    }

    /// The reason given with the command; nil if it was not the last command, or no reason was given.
    private func reason(of command: EntryCommand) -> String? {
        guard let last = entry.lastCommand, last.name == command, let reason = last.reason else { return nil }
        return "Reason: \"\(reason)\"."
    }

    // MARK: How it came to that

    private var ending: String {
        guard let endedAt = entry.endedAt else { return "after \(attempts)" }
        let waited = ((endedAt - entry.parkedAt).inSeconds * 1000).rounded() / 1000
        return "at \(wall.text(of: endedAt)), after \(attempts) and \(waited) s of waiting"
    }

    private var attempts: String { entry.attemptCount == 1 ? "1 attempt" : "\(entry.attemptCount) attempts" }

    private var lastFailure: String? { (entry.lastFailure?.message).map { MaskedTicketIDs.text($0) } }

    private func sentences(_ all: String?...) -> String { all.compactMap(\.self).joined(separator: " ") }

    private var failed: String {
        let rule: String? =
            switch entry.attempts.records.last?.verdict {
            case .fail(let reason): "No further attempt: \(reason.clause)."
            case .standIn:
                entry.ticket == nil
                    ? "The client got the policy's stand-in response."
                    : "No automatic attempts are left."
            case .againOnNewConnection, .park, .deliver, nil: nil
            }
        return sentences("Failed \(ending).", lastFailure, rule)
    }
}

extension CommandAuthor {
    /// As a part of a sentence.
    fileprivate var text: String {
        if self == .client { return "by its client" }
        return "by a person (\(who)\(from.map { " from \($0)" } ?? ""))"
    }
}
