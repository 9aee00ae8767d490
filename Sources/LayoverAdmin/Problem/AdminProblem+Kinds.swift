import LayoverCore
import LayoverEngine

/// Every error of the admin API.
extension AdminProblem {
    static func malformedBody(_ detail: String) -> AdminProblem {
        AdminProblem(400, "malformed_body", title: "Malformed body", detail: detail)
    }

    static func badParameter(_ detail: String) -> AdminProblem {
        AdminProblem(400, "bad_parameter", title: "Bad query parameter", detail: detail)
    }

    static func badRequest(_ detail: String) -> AdminProblem {
        AdminProblem(400, "bad_request", title: "Bad request", detail: detail)
    }

    static let unreadable = AdminProblem(
        400, "unreadable", title: "Unreadable request",
        detail:
            "The request is not valid HTTP (RFC 9112), or its head exceeds 64 KiB or 100 fields."
    )

    static let unauthorized = AdminProblem(
        401, "unauthorized", title: "Unauthorized",
        detail: "The admin token is missing or wrong. Send it as 'Authorization: Bearer …'.")

    static let tooManyGuesses = AdminProblem(
        429, "too_many_guesses", title: "Too many wrong tokens",
        detail: "Several wrong tokens from this address wait for their answer. Try again in a few seconds.")

    static let readOnly = AdminProblem(
        403, "read_only", title: "Read only", detail: "This token (admin.viewToken) is for reading only.")

    static let foreignHost = AdminProblem(
        403, "foreign_host", title: "Foreign host",
        detail: "The host of the request is not in admin.allowedHosts.")

    static let foreignOrigin = AdminProblem(
        403, "foreign_origin", title: "Foreign origin",
        detail: "The request comes from a page of another site.")

    static let notFound = AdminProblem(
        404, "not_found", title: "Not found", detail: "No resource has this path.")

    static let unknownEntry = AdminProblem(
        404, "unknown_entry", title: "Unknown entry",
        detail: "No request has this id.")

    static func methodNotAllowed(_ allowed: [String]) -> AdminProblem {
        var problem = AdminProblem(
            405, "method_not_allowed", title: "Method not allowed",
            detail: "Allowed methods: \(allowed.joined(separator: ", ")).")
        problem.allowedMethods = allowed
        return problem
    }

    static let unknownIncident = AdminProblem(
        404, "unknown_incident", title: "Unknown incident",
        detail: "No open incident has this id.")

    static func conflict(_ command: EntryCommand, _ incident: Incident) -> AdminProblem {
        AdminProblem(
            409, "conflict", title: "Wrong state",
            detail: "No request of this incident can be sent by \(command.rawValue): the server may have processed each of them. Decide "
                + "about each with force or cancel.")
    }

    static func conflict(_ command: EntryCommand, _ entry: Entry?) -> AdminProblem {
        let state = entry?.state ?? .cancelled
        let advice =
            switch (state, command, entry?.why) {
            case (.undecided, .retry, .maybeApplied):
                " The server may have processed it; force resends it and accepts that risk."
            default: ""
            }
        return AdminProblem(
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
    static func unchangeable(_ entry: Entry?) -> AdminProblem {
        let state = entry?.state ?? .cancelled
        return AdminProblem(
            409, "conflict", title: "Wrong state",
            detail: state == .attempting
                ? "Cannot change the lane: the request is being sent now."
                : "Cannot change it: the request \(clause(of: state)).")
    }

    static let stale = AdminProblem(
        412, "stale", title: "Entry has changed",
        detail: "The request changed: its revision differs from If-Match.")

    static func bodyTooLarge(_ limit: Int) -> AdminProblem {
        AdminProblem(
            413, "body_too_large", title: "Body too large",
            detail: "The body exceeds \(limit) bytes.")
    }

    static let notForm = AdminProblem(
        415, "not_form", title: "Not a form", detail: "The Content-Type must be application/x-www-form-urlencoded.")

    static let notJSON = AdminProblem(
        415, "unsupported_media_type", title: "Unsupported media type",
        detail: "The Content-Type must be application/json.")

    static let acknowledge = AdminProblem(
        422, "acknowledge", title: "Risk not acknowledged",
        detail: "The server may have processed this request already. To resend it, send "
            + "\"acknowledge\": \"\(EntryCommand.duplicateRisk)\".")

    static func configuration(_ errors: [String]) -> AdminProblem {
        var problem = AdminProblem(
            422, "configuration", title: "Bad configuration",
            detail: "The configuration has errors and was not applied: "
                + errors.joined(separator: "; "))
        problem.errors = errors
        return problem
    }

    static func store(_ failure: StoreFailure) -> AdminProblem {
        AdminProblem(
            503, "store", title: "Cannot read the store",
            detail: "The store could not be read (\(failure.kind.rawValue)).")
    }

    /// The command is done, and a crash may undo it.
    static func unsaved(_ failure: StoreFailure) -> AdminProblem {
        AdminProblem(
            507, "store", title: "Not saved to disk",
            detail: "The change is applied but not yet saved to disk; saving is retried. A crash before that "
                + "undoes the change. \(failure.message)")
    }

    /// The same of some of many entries.
    static func unsaved(_ failure: StoreFailure, count: Int, of matched: Int) -> AdminProblem {
        var problem = unsaved(failure)
        problem.detail = "\(count) of \(matched): " + problem.detail
        return problem
    }

    // MARK: The cache

    static let noCache = AdminProblem(
        404, "no_cache", title: "No cache",
        detail: "There is no response cache: no policy sets cache \"staleIfError\", or the cache "
            + "could not be opened (see the log).")

    static func cache(_ error: any Error) -> AdminProblem {
        AdminProblem(503, "cache", title: "Cannot use the cache", detail: "The cache could not be used (\(error)).")
    }

    // MARK: Bodies

    static let bodyMasked = AdminProblem(
        401, "body_masked", title: "Body is masked",
        detail: "Bodies need a token. Without admin.token, it is in the file admin-token in "
            + "$RUNTIME_DIRECTORY, in $XDG_RUNTIME_DIR/layover, or beside the store. Send it as 'Authorization: Bearer …'.")

    static let bodyOnItsWay = AdminProblem(
        409, "body_on_its_way", title: "Body is being moved",
        detail: "The body is being written to disk or read from it. Try again shortly.")

    static let bodyNotKept = AdminProblem(
        410, "body_not_kept", title: "Body was not stored",
        detail: "The body exceeds a limit, could not be read, or was passed on without being stored because it is sent only once.")

    static let bodyGone = AdminProblem(
        410, "body_gone", title: "Body was deleted",
        detail: "The request has ended, and its body was deleted.")

    // MARK: Responses

    static func responsePending(_ entry: Entry) -> AdminProblem {
        AdminProblem(
            409, "pending", title: "No response yet",
            detail: "The request is \(entry.state.rawValue) and has no response yet.")
    }

    static func noResponse(_ entry: Entry) -> AdminProblem {
        if entry.settledBy != nil {
            return AdminProblem(
                410, "settled", title: "No response",
                detail: "A person settled the request: the server has processed it, and its response is not known.")
        }
        return AdminProblem(
            410, "no_answer", title: "No stored response",
            detail: entry.ticket == nil
                ? "Only the responses of tickets are stored. A response to this request went to its client."
                : "The ticket is \(entry.state.rawValue), and no response is stored.")
    }

    static let responseNotKept = AdminProblem(
        410, "answer_not_kept", title: "Response was not stored",
        detail: "The origin answered, but its response body could not be stored.")

    // MARK: The process

    static let draining = AdminProblem(
        503, "draining", title: "Draining", detail: "The proxy is stopping.")

    static let internalError = AdminProblem(
        500, "internal", title: "Internal error", detail: "An unexpected error occurred; see the log.")

    static let noProxy = AdminProblem(
        503, "no_proxy", title: "No proxy", detail: "The proxy port does not listen, so nothing can be sent through it.")

    // MARK: Ids

    /// Most ids that are named where a prefix is ambiguous.
    static let namedIDCountMax = 4

    static func unknownPrefix(_ prefix: EntryIDPrefix) -> AdminProblem {
        var problem = unknownEntry
        problem.detail = "No request has an id that begins with \(prefix)."
        return problem
    }

    static func ambiguousID(_ prefix: EntryIDPrefix, _ count: Int, _ ids: [String]) -> AdminProblem {
        let named = ids.isEmpty ? "" : ": " + ids.sorted().joined(separator: ", ")
        return AdminProblem(
            409, "ambiguous_id", title: "Ambiguous id",
            detail: "\(count) requests have ids that begin with \(prefix)\(named). Give more digits.")
    }

    // MARK: Rehearsals

    static func rehearsal(_ refusal: RehearsalRefusal) -> AdminProblem {
        switch refusal {
        case .byteCountWithout(let fault): .malformedBody("'afterBytes' is for cut and slow, and not for \(fault.rawValue).")
        case .byteCount(let min):
            .malformedBody("'afterBytes' must be a whole number from \(min) to \(RehearsalOrder.byteCountMax).")
        case .statusWithout(let fault): .malformedBody("'status' is for the fault status, and not for \(fault.rawValue).")
        case .status: .malformedBody("'status' must be a whole number from 200 to 599.")
        case .length: .malformedBody("'for' must be more than 0, and 24h at most.")
        case .tooMany:
            AdminProblem(
                409, "too_many_rehearsals", title: "Too many rehearsals",
                detail: "There are \(Rehearsals.countMax) rehearsals already, which is the most. Stop one first.")
        }
    }

    static let unknownRehearsal = AdminProblem(
        404, "unknown_rehearsal", title: "Unknown rehearsal",
        detail: "No rehearsal has this id. It may be over.")
}
