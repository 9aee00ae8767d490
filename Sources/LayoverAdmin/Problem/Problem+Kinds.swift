import LayoverCore

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

    static let draining = Problem(
        503, "draining", title: "Draining", detail: "The process is being stopped.")

    static let internalError = Problem(
        500, "internal", title: "Internal error", detail: "Something went wrong here; the log says what.")
}
