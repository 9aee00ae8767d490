import LayoverCore

/// Says for people how an entry stands: what it waits for and until when, or how it ended.
struct StandingText {
    let entry: Entry
    let reachability: ReachabilityView
    let view: EntryView

    private var wall: WallTime { view.wall }

    var text: String {
        switch entry.state {
        case .waiting: sentences(waiting, deadline)
        case .attempting: "Attempt \(entry.attemptCount + 1) is under way to \(entry.origin)."
        case .held:
            sentences(
                "A person stopped its automatic attempts: release lets them go on, retry sends it now.",
                deadline)
        case .undecided: sentences(undecided, deadline)
        case .delivered: delivered
        case .cancelled: cancelled
        case .expired: sentences("Expired \(ending): it had waited as long as it may.", lastFailure)
        case .failed: failed
        }
    }

    // MARK: While it lives

    private var waiting: String {
        switch entry.waitingFor {
        case .network: network
        case .origin: sentences("Waits for \(entry.origin) to be reachable again.", nextTry)
        case .turn: "Waits for its turn: as many requests are under way to \(entry.origin) as may be."
        case .lane: "Waits for those before it in the lane \(entry.shownLane ?? "")."
        case .parent: "Waits for the tickets that it depends on: \(parents)."
        case .time, nil: sentences("Waits for its time.", lastFailure, nextTry)
        }
    }

    private var network: String {
        if reachability.mode == .offline {
            let reason = reachability.reason.map { " (\($0))" } ?? ""
            return "Waits because an admin said offline\(reason)."
        }
        // What is shown as due goes; without a time it is kept from whoever answers in its origin's place.
        if reachability.state == .portal, entry.nextAttemptAt == nil {
            return "Waits for the captive portal to go away, which must not see its body or credentials."
        }
        return sentences("Waits for the network to come back.", nextTry)
    }

    private var nextTry: String {
        guard let at = entry.nextAttemptAt else { return "It is not tried by itself." }
        return "The next attempt is due at \(wall.text(of: at))"
            + (entry.waitingFor == .time ? "." : " at the latest.")
    }

    private var undecided: String {
        switch entry.why {
        case .maybeApplied:
            "The origin may have acted on it, so it is not sent again by itself: a person decides, with force or cancel."
        case .exhausted:
            // One word for all that wait in an outage: whoever was first has used them up for the rest.
            (entry.automaticLeft ?? 0) > 0
                ? "The automatic attempts of its outage are used up: a person decides, with retry or cancel."
                : "All automatic attempts are used up: a person decides, with retry or cancel."
        case .credentialsExpired:
            "Its credentials \(credentialsEnd), so it is not sent by itself: a person decides, with retry or cancel."
        case .rejected: sentences("It was not sent, and a person decides, with retry or cancel.", lastFailure)
        case .parentFailed:
            "A ticket that it depends on was not delivered: a person decides, with retry or cancel."
        case nil: "A person decides."
        }
    }

    private var credentialsEnd: String {
        entry.ticket?.notAfter.map { "expired at \(wall.text(of: $0))" } ?? "are past their time"
    }

    private var parents: String {
        (entry.ticket?.parents ?? []).map(view.shown).joined(separator: ", ")
    }

    private var deadline: String {
        if entry.ticket != nil { return "If nothing comes of it by \(wall.text(of: entry.expiresAt)), it expires." }
        return "If nothing comes of it by \(wall.text(of: entry.expiresAt)), its client gets a 504."
    }

    // MARK: Its end

    private var delivered: String {
        guard entry.ticket != nil else { return "Its client got the answer \(ending)." }
        guard entry.attempts.records.last?.brokeOff == true else {
            return "Its answer came \(ending), and is kept until its client drops it."
        }
        return sentences(
            "Its answer came \(ending), but broke off: its status and fields are kept, its body is not.", lastFailure)
    }

    private var cancelled: String {
        if entry.attempts.records.last?.verdict == .fail(.preflight) {
            return sentences("Dropped by its preflight \(ending).", lastFailure)
        }
        if let obstacle = entry.adoptionObstacle {
            return sentences(
                "Cancelled \(ending): its client disconnected, and it cannot be sent later, because \(obstacle.clause).",
                lastFailure)
        }
        if let newer = entry.supersededBy { return "A newer request took its place \(ending): \(view.shown(newer))." }
        return "Given up \(ending): by a person, because its client left, or because the proxy stopped."
    }

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
            case .fail(let reason): "No other attempt was made: \(reason.clause)."
            case .standIn:
                entry.ticket == nil
                    ? "Its client got the policy's stand-in answer."
                    : "All automatic attempts are used up."
            case .againOnNewConnection, .park, .deliver, nil: nil
            }
        return sentences("Failed \(ending).", lastFailure, rule)
    }
}
