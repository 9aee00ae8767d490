import LayoverCore

/// The outcome of one attempt.
enum Fate {
    /// The attempt fails before its connection is established.
    case neverConnects(FailureKind, FailurePhase, after: Duration, isNameUnknown: Bool)
    /// The parent proxy reports that it could not connect to the origin.
    case isRefused(after: Duration)
    /// The parent proxy refuses to forward the request.
    case isDenied(after: Duration)
    /// The connection stands and nothing of the request leaves.
    case breaksBeforeSending(after: Duration)
    /// So many bytes of the body are taken, then it breaks. The upstream may have acted on them.
    case breaksAfterSending(FailureKind, bodyByteCount: Int, after: Duration, isStale: Bool)
    case answers(Reply)
    /// The connection stands, the request is taken, and nothing comes back.
    case staysSilent

    var word: String {
        switch self {
        case .neverConnects(let kind, _, let wait, _): "never connects: \(kind.rawValue) after \(wait)"
        case .isRefused: "is not reached by the parent proxy"
        case .isDenied: "the parent proxy denies"
        case .breaksBeforeSending: "breaks before sending"
        case .breaksAfterSending(let kind, _, _, let isStale):
            "breaks: \(kind.rawValue)\(isStale ? ", stale" : "")"
        case .answers(let reply): "answers \(reply.status)"
        case .staysSilent: "stays silent"
        }
    }

    /// A response, and how it comes.
    struct Reply {
        var status = 200
        var retryAfter: Int?
        var forbidsRetry = false
        var bodyByteCount = 20
        var isChunked = false
        /// True if the response has a validator.
        var isTagged = false
        var isWeaklyTagged = false
        /// The response to a request for the rest.
        var rest = Rest.right
        var connectsAfter: Duration = .milliseconds(20)
        var after: Duration = .milliseconds(20)
        /// Bytes of the body that come at a time; nil: a quarter of it, but at least 100.
        var partByteCount: Int?
        /// Between parts of the body.
        var pace: Duration = .milliseconds(5)
        /// Bytes of the response's body after which the connection breaks.
        var diesAfter: Int?
        /// Before the request is there as a whole.
        var isEarly = false
        var sendsInterim = false
        /// The number of sendings: libcurl may repeat a request on its own.
        var sendings = 1

        /// True if this reply to the request for the rest ends the broken response.
        var isNotTheRest: Bool {
            switch status {
            case 200: !rest.isGood
            case 408, 425, 429, 500...599: retryAfter ?? 0 > 3600
            default: true
            }
        }
    }
}
