import LayoverCore

/// One request as the world knows it: what its client wanted and what really came of it upstream.
///
/// The referee holds the proxy against this, not against what the proxy says of itself.
final class RequestTruth {
    let number: Int
    let method: String
    let origin: Origin
    let hasKey: Bool
    let policyName: String?
    let asksToPass: Bool
    let expectsContinue: Bool
    let isChunked: Bool
    /// Bytes of its body; nil where it has none.
    let bodyByteCount: Int?
    let carriesCredentials: Bool

    /// Fields of the request about tickets.
    var order = TicketWords()
    /// The question about another request's ticket; nil for a request to an origin.
    var question: TicketAsk?
    /// True if the request shares its URL with others, and a newer one may supersede an older one.
    var isDraft = false
    /// True if the client breaks the request off in the middle of its body.
    var breaksOff = false
    /// True if the client has sent the last byte of the request.
    var isWhole = false
    /// The request that its client makes once more, because it has heard nothing of it or forgot.
    var original: RequestTruth?
    /// Whether its client makes it once more while the first may be on its way. Once that is over the key is free, so each
    /// may have attempts of its own, one after the other.
    var hasTwins = false

    /// Its ticket, once its client was told.
    var ticket: EntryID?
    /// True if a person or the client cancelled the request.
    var isCancelAsked = false
    /// True if a person aborted an attempt of the request.
    var isAborted = false
    /// True if a person settled the request.
    var isSettled = false
    /// True if the `settle` command was confirmed to the person.
    var isSettleTold = false
    /// The entry, of no ticket, of which a person was told that it is settled.
    var settledEntry: EntryID?
    /// True if the cancellation or deletion of the ticket was confirmed.
    var isCancelTold = false
    /// True if an upstream has begun its response.
    var hasHead = false
    /// True if the process died during the life of the request.
    var hasSeenDeath = false
    /// Its entry, while a person who retried it has been told so and nothing has come of that.
    var retryTold: EntryID?
    /// Numbers of its parents that ended undelivered, and of which a person said that they need not be.
    var excusedParents: Set<Int> = []

    /// True if the client has sent the whole request.
    var isSent = false
    /// Numbers of the attempts of which a byte may have reached an upstream, a force between two of them
    /// taken away.
    var sendings: [Int] = []
    /// Forces by a person that no attempt has used yet.
    var forceCount = 0
    /// Forces of which an attempt came that sent nothing.
    var unusedForceCount = 0
    var startCount = 0
    /// The parent proxy of its newest attempt, by its gate, or nil for none; empty: it had no attempt.
    var triedParentProxyGates: [Origin?] = []
    /// Attempts that no person asked for, those that were cut off to be made anew taken away.
    var automaticCount = 0
    /// The highest limit on them that was ever in force for it; nil once there was none.
    var automaticMax: Int? = 0
    /// The lowest limit on them that was ever in force for it; nil: there was none.
    var automaticMin: Int?
    /// Attempts that no person asked for, those taken away that the store of the proxy stopped.
    var madeCount = 0
    /// True if any rule that was ever in force limited the attempts of the request.
    var hasBeenLimited = false
    /// True if any rule that was ever in force allowed a second sending.
    var hasBeenVouched = false
    /// Attempts under way that nobody has cancelled.
    var runningCount = 0
    /// True if a person retried or forced the request, and no attempt has followed yet.
    var isAskedFor = false
    /// True if a person requested the attempt under way: it may be cut off and repeated.
    var goesAsAsked = false
    /// True if the store stopped an attempt that a person requested: the next attempt replaces it.
    var isOwedAttempt = false
    var answerCount = 0
    /// True if a response of an upstream began and broke.
    var hasBrokenResponse = false
    /// The longest that any rule in force for it let it wait.
    var holdMax = Duration.zero
    /// The shortest that any rule in force for it let it wait.
    var holdMin: Duration?
    /// The longest that any rule in force for it let an attempt of it go on without its client.
    var unattendedMax = Duration.zero
    /// The shortest that any rule in force for it let it live.
    var lifetimeMin: Duration?
    /// When its entry was first seen in the set; nil: it never was.
    var firstParkedAt: Timestamp?
    /// True if the response breaks off repeatedly.
    var isDownload = false
    var download = Download()

    init(
        number: Int, method: String, origin: Origin, hasKey: Bool, policyName: String?, asksToPass: Bool,
        expectsContinue: Bool, isChunked: Bool, bodyByteCount: Int?, carriesCredentials: Bool
    ) {
        self.number = number
        self.method = method
        self.origin = origin
        self.hasKey = hasKey
        self.policyName = policyName
        self.asksToPass = asksToPass
        self.expectsContinue = expectsContinue
        self.isChunked = isChunked
        self.bodyByteCount = bodyByteCount
        self.carriesCredentials = carriesCredentials
    }

    /// The URL that drafts share.
    static let draftTarget = "/draft"

    var isConnect: Bool { method == "CONNECT" }

    /// RFC 9110 section 9.2.2, and the word of its policy as the configuration is; once more and on purpose not from the
    /// core.
    func isRepeatable(in routes: RouteTable) -> Bool {
        isRepeatableByNature || policy(in: routes).repeatable
    }

    var isRepeatableByNature: Bool {
        hasKey || isConnect || ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method)
    }

    private func policy(in routes: RouteTable) -> Policy {
        if let policyName, let named = routes.policies[policyName] { return named }
        if let route = routes.route(named: "b"), origin.host == "b.example", route.methods?.contains(method) ?? true {
            return route.policy
        }
        return routes.standardPolicy
    }

    /// True if other requests or a ticket may get the response too: it is not continued then.
    var mayHaveOtherReaders: Bool { hasKey || order.prefer != nil || order.isDeferred || policyName == "deferring" }

    func giveBackForces() {
        if unusedForceCount > 0 { forceCount = 1 }
        unusedForceCount = 0
    }

    func takeForcesBack() {
        unusedForceCount += forceCount
        forceCount = 0
    }

    /// For the trace.
    var words: String {
        if let question { return "\(question.kind) of r\(question.of.number)" }
        if let original { return "r\(original.number) once more" }
        let after = order.after.map { "r\($0.number)" }
        return ([method, origin.description, policyName ?? "-"] + order.lines.filter { !$0.hasPrefix("Layover-After") } + after)
            .joined(separator: " ")
    }

    /// The byte of its body at a place.
    func bodyByte(at offset: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (original?.number ?? number) &* 31 &+ offset &* 7)
    }

    /// The lines of its head.
    var head: String {
        if let question { return question.head }
        if let original { return original.head }
        var lines: [String]
        if isConnect {
            lines = ["CONNECT \(origin.authority) HTTP/1.1", "Host: \(origin.authority)"]
        } else {
            let target = isDraft ? Self.draftTarget : "/r\(number)"
            lines = ["\(method) \(origin)\(target) HTTP/1.1", "Host: \(origin.hostField)"]
        }
        // CONNECT has no path that could carry the number.
        lines.append("User-Agent: r\(number)")
        if hasKey { lines.append("Idempotency-Key: k\(number)") }
        if carriesCredentials { lines.append("Authorization: Bearer x") }
        if let policyName { lines.append("Layover-Policy: \(policyName)") }
        if asksToPass { lines.append("Layover-Mode: pass") }
        lines += order.lines
        if expectsContinue { lines.append("Expect: 100-continue") }
        if let bodyByteCount {
            lines.append(isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(bodyByteCount)")
        }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }
}
