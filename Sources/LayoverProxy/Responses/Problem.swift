import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverText

/// A response of the proxy's own: what went wrong, as `application/problem+json` (RFC 9457) and in
/// `Proxy-Status` (RFC 9209).
struct Problem {
    var status: Int
    /// The last part of the problem's type.
    var kind: String
    /// A sentence for people. Never holds field values, bodies or queries.
    var detail: String
    var error: FailureKind
    var phase: FailurePhase?
    var evidence: Evidence?
    var attemptCount = 0
    /// The status of the origin that is not passed on (RFC 9209 section 2.1.4); nil: there is no such status.
    var receivedStatus: Int?
    /// As the admin port shows it (`EntryNaming`).
    var entry: EntryID?
    var retryAfter: Duration?

    init(status: Int, kind: String, detail: String, error: FailureKind, evidence: Evidence? = nil, retryAfter: Duration? = nil) {
        self.status = status
        self.kind = kind
        self.detail = detail
        self.error = error
        self.evidence = evidence
        self.retryAfter = retryAfter
    }

    /// What the client is told of a failed attempt.
    ///
    /// - Parameter bodyLoss: Why the body cannot be sent again, which is told if that is the reason.
    init(
        _ failure: Failure, reason: Verdict.FailReason, attemptCount: Int, entry: EntryID?,
        bodyLoss: BodyLoss = .notStored
    ) {
        status = failure.kind.recommendedStatus
        kind = failure.kind.rawValue
        error = failure.kind
        phase = failure.phase
        evidence = failure.evidence
        self.attemptCount = attemptCount
        self.entry = entry
        detail = Self.sentence(failure.message, reason, bodyLoss)
    }

    private static func sentence(
        _ message: String, _ reason: Verdict.FailReason, _ bodyLoss: BodyLoss
    ) -> String {
        switch reason {
        case .maybeApplied:
            "\(message) The server may have processed the request, which is not repeatable, so it was not resent."
        case .bodyNotReplayable: "\(message) The request could not be resent, because \(bodyLoss.clause)"
        case .exhausted: "\(message) No automatic attempts are left."
        case .nameUnknown: "\(message) The network is up, so waiting would not help."
        case .notInRetryOn, .pass, .responseBegan, .preflight, .outcomeUnknown: message
        }
    }

    /// Why a body cannot be sent again.
    enum BodyLoss {
        /// The body is longer than `limits.bodyMax`.
        case tooLong(max: Int)
        /// The disk or `limits.spoolTotal` had no room.
        case noRoom(SpoolFailure)
        case incomplete
        /// The body was sent on without being stored.
        case notStored

        fileprivate var clause: String {
            switch self {
            case .tooLong(let max): "its body exceeds limits.bodyMax (\(max) bytes)."
            case .noRoom(let failure): "its body was not stored. \(failure)"
            case .incomplete: "its body was incomplete."
            case .notStored: "its body was not stored."
            }
        }
    }

    /// What holds of all attempts so far: a client that reads "not sent" will send the request again.
    mutating func recall(_ counts: AttemptCounts) {
        attemptCount = counts.all
        if counts.mayHaveBeenApplied, evidence == nil || evidence == .neverSent {
            evidence = .maybeApplied
            detail += " The server may have processed an earlier attempt."
        }
        if evidence == .maybeApplied { avoidRetry() }
    }

    /// Clients may take a 503 for "nothing was done", and send the request again at the time of its `Retry-After`.
    private mutating func avoidRetry() {
        guard status == 503 else { return }
        status = 502
        retryAfter = nil
    }

    /// For clients whose request was sent and is not answered.
    mutating func noteSent() {
        evidence = .maybeApplied
        avoidRetry()
    }

    var title: String { StatusText.reason(of: status) }

    /// The body.
    var json: String {
        var members = [
            #""type":"urn:layover:problem:\#(kind)""#, #""title":"\#(title)""#, #""status":\#(status)"#,
            #""detail":"\#(EscapedText.json(detail))""#, #""kind":"\#(kind)""#,
            #""attempts":\#(attemptCount)"#,
        ]
        if let phase { members.append(#""phase":"\#(phase.rawValue)""#) }
        if let evidence { members.append(#""evidence":"\#(evidence.rawValue)""#) }
        if let receivedStatus { members.append(#""receivedStatus":\#(receivedStatus)"#) }
        if let entry {
            members.append(#""entry":"\#(entry)""#)
            // No path: the client may not use the admin port, and the proxy port has no resource for an entry.
            members.append(#""instance":"urn:layover:entry:\#(entry)""#)
        }
        return "{\(members.joined(separator: ","))}\n"
    }

    /// The value of `Proxy-Status`.
    func proxyStatus(identity: String) -> String {
        let received = receivedStatus.map { "; received-status=\($0)" } ?? ""
        return "\(identity); error=\(error.errorType)\(received); details=\"\(Self.quotable(detail))\""
    }

    /// Text for a quoted string of RFC 8941: printable ASCII, quotes and backslashes escaped.
    private static func quotable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case " "..."~": result.unicodeScalars.append(scalar)
            default: result += "?"
            }
        }
        return result
    }
}
