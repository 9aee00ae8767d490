import LayoverCore
import LayoverEngine

/// Every error of the admin API.
extension Problem {
    static func malformedBody(_ detail: String) -> Problem {
        Problem(400, "malformed-body", title: "Malformed body", detail: detail)
    }

    static func badParameter(_ detail: String) -> Problem {
        Problem(400, "bad-parameter", title: "Bad query parameter", detail: detail)
    }

    static func badRequest(_ detail: String) -> Problem {
        Problem(400, "bad-request", title: "Bad request", detail: detail)
    }

    static let unreadable = Problem(
        400, "unreadable", title: "Unreadable request",
        detail:
            "This is not a request by RFC 9112, or its head is larger than 64 KiB or has more than 100 fields."
    )

    static let unauthorized = Problem(
        401, "unauthorized", title: "Unauthorized",
        detail: "This call needs the admin token as 'Authorization: Bearer …'.")

    static let foreignHost = Problem(
        403, "foreign-host", title: "Foreign host",
        detail: "The request is addressed to a host that is not in admin.allowedHosts.")

    static let foreignOrigin = Problem(
        403, "foreign-origin", title: "Foreign origin",
        detail: "The request was made by a page of another site.")

    static let notFound = Problem(
        404, "not-found", title: "Not found", detail: "There is nothing at this path.")

    static let unknownEntry = Problem(
        404, "unknown-entry", title: "Unknown entry",
        detail: "There is no entry with this id, and none is remembered.")

    static func methodNotAllowed(_ allowed: [String]) -> Problem {
        var problem = Problem(
            405, "method-not-allowed", title: "Method not allowed",
            detail: "Allowed here: \(allowed.joined(separator: ", ")).")
        problem.allowedMethods = allowed
        return problem
    }

    static let unknownIncident = Problem(
        404, "unknown-incident", title: "Unknown incident",
        detail: "There is no open incident with this id.")

    static func conflict(_ command: EntryCommand, _ entry: Entry?) -> Problem {
        let state = entry?.state ?? .cancelled
        let advice =
            switch (state, command, entry?.why) {
            case (.undecided, .retry, .maybeApplied):
                " It may have been applied: force sends it again, with the risk acknowledged."
            default: ""
            }
        return Problem(
            409, "conflict", title: "Not in this state",
            detail:
                "An entry that is \(state.rawValue) does not take the command \(command.rawValue).\(advice)")
    }

    /// A change of what it is besides its state.
    static func unchangeable(_ entry: Entry?) -> Problem {
        let state = entry?.state ?? .cancelled
        return Problem(
            409, "conflict", title: "Not in this state",
            detail: state == .attempting
                ? "While its attempt is under way an entry stays in its lane."
                : "An entry that is \(state.rawValue) is not changed any more.")
    }

    static let stale = Problem(
        412, "stale", title: "Entry has changed",
        detail: "The entry's revision is not the one in If-Match.")

    static func bodyTooLarge(_ limit: Int) -> Problem {
        Problem(
            413, "body-too-large", title: "Body too large",
            detail: "A body here may be \(limit) bytes long.")
    }

    static let notJSON = Problem(
        415, "unsupported-media-type", title: "Unsupported media type",
        detail: "A body must come as application/json.")

    static let acknowledge = Problem(
        422, "acknowledge", title: "Risk not acknowledged",
        detail: "The origin may have acted on this request already. Whoever forces it sends "
            + "\"acknowledge\": \"\(EntryCommand.duplicateRisk)\".")

    static func configuration(_ errors: [String]) -> Problem {
        var problem = Problem(
            422, "configuration", title: "Bad configuration",
            detail: "Nothing was changed, the configuration of before stays in force: "
                + errors.joined(separator: "; "))
        problem.errors = errors
        return problem
    }

    static func store(_ failure: StoreFailure) -> Problem {
        Problem(
            503, "store", title: "Store cannot be read",
            detail: "The store could not be read (\(failure.kind.rawValue)).")
    }

    /// What was commanded is done, and may be undone by a crash.
    static func unsaved(_ failure: StoreFailure) -> Problem {
        Problem(
            507, "store", title: "Not on disk",
            detail: "It is done, but not on disk: until the disk takes it, which is tried again and again, a crash "
                + "would undo it. \(failure.message)")
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
        detail: "Nothing is kept for reading offline: no policy has cache \"staleIfError\", or the cache "
            + "could not be opened, which the log tells then.")

    static func cache(_ error: any Error) -> Problem {
        Problem(503, "cache", title: "Cache cannot be used", detail: "The cache could not be used (\(error)).")
    }

    // MARK: Bodies

    static let bodyMasked = Problem(
        401, "body-masked", title: "Body is masked",
        detail: "Without admin.token a body is shown to whoever sends the token in the file admin-token, "
            + "beside the store, as 'Authorization: Bearer …'.")

    static let bodyOnItsWay = Problem(
        409, "body-on-its-way", title: "Body is on its way",
        detail: "The request is being written to disk, or read from there. Ask again in a moment.")

    static let bodyNotKept = Problem(
        410, "body-not-kept", title: "Body is not kept",
        detail: "The body is over a limit, could not be read, or is sent only once and so is passed on without being kept.")

    static let bodyGone = Problem(
        410, "body-gone", title: "Body is not kept any more",
        detail: "The entry has ended, and the body of its request went with it.")

    // MARK: Answers

    static func answerPending(_ entry: Entry) -> Problem {
        Problem(
            409, "pending", title: "No answer yet",
            detail: "The entry is \(entry.state.rawValue): there is no answer yet.")
    }

    static func noAnswer(_ entry: Entry) -> Problem {
        Problem(
            410, "no-answer", title: "No answer is kept",
            detail: entry.ticket == nil
                ? "Only the answers of tickets are kept: that of this entry went to its client, if there was one."
                : "The ticket is \(entry.state.rawValue), and no answer of it is kept.")
    }

    static let answerNotKept = Problem(
        410, "answer-not-kept", title: "The answer was not kept",
        detail: "The origin answered, but the body of its answer could not be kept.")

    // MARK: The process

    static let draining = Problem(
        503, "draining", title: "Draining", detail: "The process is being stopped.")

    static let internalError = Problem(
        500, "internal", title: "Internal error", detail: "Something went wrong here; the log says what.")
}
