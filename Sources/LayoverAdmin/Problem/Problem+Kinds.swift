import LayoverCore
import LayoverEngine

/// Every error of the admin API.
extension Problem {
    static func malformedBody(_ detail: String) -> Problem {
        Problem(400, "malformed_body", title: "Malformed body", detail: detail)
    }

    static func badParameter(_ detail: String) -> Problem {
        Problem(400, "bad_parameter", title: "Bad query parameter", detail: detail)
    }

    static func badRequest(_ detail: String) -> Problem {
        Problem(400, "bad_request", title: "Bad request", detail: detail)
    }

    static let unreadable = Problem(
        400, "unreadable", title: "Unreadable request",
        detail:
            "The request is not valid HTTP (RFC 9112), or its head exceeds 64 KiB or 100 fields."
    )

    static let unauthorized = Problem(
        401, "unauthorized", title: "Unauthorized",
        detail: "The admin token is missing or wrong. Send it as 'Authorization: Bearer …'.")

    static let tooManyGuesses = Problem(
        429, "too_many_guesses", title: "Too many wrong tokens",
        detail: "Several wrong tokens from this address wait for their answer. Try again in a few seconds.")

    static let readOnly = Problem(
        403, "read_only", title: "Read only", detail: "This token (admin.viewToken) is for reading only.")

    static let foreignHost = Problem(
        403, "foreign_host", title: "Foreign host",
        detail: "The host of the request is not in admin.allowedHosts.")

    static let foreignOrigin = Problem(
        403, "foreign_origin", title: "Foreign origin",
        detail: "The request comes from a page of another site.")

    static let notFound = Problem(
        404, "not_found", title: "Not found", detail: "No resource has this path.")

    static let unknownEntry = Problem(
        404, "unknown_entry", title: "Unknown entry",
        detail: "No request has this id.")

    static func methodNotAllowed(_ allowed: [String]) -> Problem {
        var problem = Problem(
            405, "method_not_allowed", title: "Method not allowed",
            detail: "Allowed methods: \(allowed.joined(separator: ", ")).")
        problem.allowedMethods = allowed
        return problem
    }

    static let unknownIncident = Problem(
        404, "unknown_incident", title: "Unknown incident",
        detail: "No open incident has this id.")

    static func conflict(_ command: EntryCommand, _ incident: Incident) -> Problem {
        Problem(
            409, "conflict", title: "Wrong state",
            detail: "No request of this incident can be sent by \(command.rawValue): the server may have processed each of them. Decide "
                + "about each with force or cancel.")
    }

    static func conflict(_ command: EntryCommand, _ entry: Entry?) -> Problem {
        let state = entry?.state ?? .cancelled
        let advice =
            switch (state, command, entry?.why) {
            case (.undecided, .retry, .maybeApplied):
                " The server may have processed it; force resends it and accepts that risk."
            default: ""
            }
        return Problem(
            409, "conflict", title: "Wrong state",
            detail:
                "Cannot \(command.rawValue): the request \(clause(of: state)).\(advice)")
    }

    /// The state of a request, as the end of a sentence that begins with "the request".
    private static func clause(of state: EntryState) -> String {
        switch state {
        case .attempting: "is being sent now"
        case .waiting, .held, .undecided: "is \(state.rawValue)"
        case .delivered, .cancelled: "was \(state.rawValue)"
        case .expired, .failed: "has \(state.rawValue)"
        }
    }

    /// A change of something other than the state.
    static func unchangeable(_ entry: Entry?) -> Problem {
        let state = entry?.state ?? .cancelled
        return Problem(
            409, "conflict", title: "Wrong state",
            detail: state == .attempting
                ? "Cannot change the lane: the request is being sent now."
                : "Cannot change it: the request \(clause(of: state)).")
    }

    static let stale = Problem(
        412, "stale", title: "Entry has changed",
        detail: "The request changed: its revision differs from If-Match.")

    static func bodyTooLarge(_ limit: Int) -> Problem {
        Problem(
            413, "body_too_large", title: "Body too large",
            detail: "The body exceeds \(limit) bytes.")
    }

    static let notForm = Problem(
        415, "not_form", title: "Not a form", detail: "The Content-Type must be application/x-www-form-urlencoded.")

    static let notJSON = Problem(
        415, "unsupported_media_type", title: "Unsupported media type",
        detail: "The Content-Type must be application/json.")

    static let acknowledge = Problem(
        422, "acknowledge", title: "Risk not acknowledged",
        detail: "The server may have processed this request already. To resend it, send "
            + "\"acknowledge\": \"\(EntryCommand.duplicateRisk)\".")

    static func configuration(_ errors: [String]) -> Problem {
        var problem = Problem(
            422, "configuration", title: "Bad configuration",
            detail: "The configuration has errors and was not applied: "
                + errors.joined(separator: "; "))
        problem.errors = errors
        return problem
    }

    static func store(_ failure: StoreFailure) -> Problem {
        Problem(
            503, "store", title: "Cannot read the store",
            detail: "The store could not be read (\(failure.kind.rawValue)).")
    }

    /// The command is done, and a crash may undo it.
    static func unsaved(_ failure: StoreFailure) -> Problem {
        Problem(
            507, "store", title: "Not saved to disk",
            detail: "The change is applied but not yet saved to disk; saving is retried. A crash before that "
                + "undoes the change. \(failure.message)")
    }

    /// The same of some of many entries.
    static func unsaved(_ failure: StoreFailure, count: Int, of matched: Int) -> Problem {
        var problem = unsaved(failure)
        problem.detail = "\(count) of \(matched): " + problem.detail
        return problem
    }

    // MARK: The cache

    static let noCache = Problem(
        404, "no_cache", title: "No cache",
        detail: "There is no response cache: no policy sets cache \"staleIfError\", or the cache "
            + "could not be opened (see the log).")

    static func cache(_ error: any Error) -> Problem {
        Problem(503, "cache", title: "Cannot use the cache", detail: "The cache could not be used (\(error)).")
    }

    // MARK: Bodies

    static let bodyMasked = Problem(
        401, "body_masked", title: "Body is masked",
        detail: "Bodies need a token. Without admin.token, it is in the file admin-token in "
            + "$RUNTIME_DIRECTORY, in $XDG_RUNTIME_DIR/layover, or beside the store. Send it as 'Authorization: Bearer …'.")

    static let bodyOnItsWay = Problem(
        409, "body_on_its_way", title: "Body is being moved",
        detail: "The body is being written to disk or read from it. Try again shortly.")

    static let bodyNotKept = Problem(
        410, "body_not_kept", title: "Body was not stored",
        detail: "The body exceeds a limit, could not be read, or was passed on without being stored because it is sent only once.")

    static let bodyGone = Problem(
        410, "body_gone", title: "Body was deleted",
        detail: "The request has ended, and its body was deleted.")

    // MARK: Responses

    static func responsePending(_ entry: Entry) -> Problem {
        Problem(
            409, "pending", title: "No response yet",
            detail: "The request is \(entry.state.rawValue) and has no response yet.")
    }

    static func noResponse(_ entry: Entry) -> Problem {
        if entry.settledBy != nil {
            return Problem(
                410, "settled", title: "No response",
                detail: "A person settled the request: the server has processed it, and its response is not known.")
        }
        return Problem(
            410, "no_answer", title: "No stored response",
            detail: entry.ticket == nil
                ? "Only the responses of tickets are stored. A response to this request went to its client."
                : "The ticket is \(entry.state.rawValue), and no response is stored.")
    }

    static let responseNotKept = Problem(
        410, "answer_not_kept", title: "Response was not stored",
        detail: "The origin answered, but its response body could not be stored.")

    // MARK: The process

    static let draining = Problem(
        503, "draining", title: "Draining", detail: "The proxy is stopping.")

    static let internalError = Problem(
        500, "internal", title: "Internal error", detail: "An unexpected error occurred; see the log.")
}
