import LayoverCore

/// The timeline of an entry: its attempts, their outcomes, the rule applied to each, and what it waits for.
package struct ExplainDocument: Codable, Sendable {
    package var id: String
    /// The oldest first. Of very many only the first and the newest are kept.
    package var attempts: [AttemptDocument]
    /// Attempts between the first and the newest that are not kept.
    package var droppedCount: Int
    /// The newest command for it; left out where there is none.
    package var lastCommand: CommandDocument?
    /// The parent proxy through which it goes, without credentials; left out where there is none.
    package var parentProxy: String?
    /// The name that the client asked for by TLS, where it is not the host; left out where it is.
    package var serverName: String?
    package var now: PresentStateDocument
}

/// One attempt that has ended.
package struct AttemptDocument: Codable, Sendable {
    package var number: Int
    package var trigger: String
    package var startedAt: String
    @OrNull package var endedAt: String?
    /// The path of the attempt: `direct` or `libcurl`; left out if no worker carried it.
    package var path: String?
    /// The phase in which the attempt failed; null if it did not fail.
    @OrNull package var phase: String?
    @OrNull package var kind: String?
    @OrNull package var evidence: String?
    /// A sentence about its failure.
    @OrNull package var message: String?
    /// Of its response; null where there was none.
    @OrNull package var status: Int?
    /// Bytes of the request that were handed to the kernel.
    @OrNull package var bytesSent: Int64?
    @OrNull package var reusedConnection: Bool?
    @OrNull package var localAddress: String?
    @OrNull package var remoteAddress: String?
    @OrNull package var curlCode: Int32?
    @OrNull package var osError: Int32?
    /// The verdict, in one word.
    @OrNull package var verdict: String?
    /// The rule that said so.
    @OrNull package var rule: String?
    /// Verdict and rule as a sentence.
    @OrNull package var text: String?
}

/// The current state of an entry.
package struct PresentStateDocument: Codable, Sendable {
    package var state: String
    @OrNull package var waitingFor: String?
    @OrNull package var why: String?
    /// When that ends by itself; null if it does not, and for ended entries.
    @OrNull package var until: String?
    /// All of it for people.
    package var text: String
    /// The key of the configuration that changes it; left out where none does.
    package var key: String?
}

extension ExplainDocument {
    init(_ entry: Entry, reachability: ReachabilityView, _ view: EntryView) {
        let wall = view.wall
        self.init(
            id: view.shown(entry.id),
            attempts: entry.attempts.records.map {
                AttemptDocument($0, isTicket: entry.ticket != nil, wall: wall)
            },
            droppedCount: entry.attempts.droppedCount, lastCommand: entry.lastCommand.map { CommandDocument($0, wall) },
            parentProxy: entry.parentProxyGate?.authority, serverName: entry.client.serverName,
            now: PresentStateDocument(entry, reachability: reachability, view))
    }
}

extension AttemptDocument {
    private static let brokeOff = """
        The response was cut off. Its status and fields are stored for the client, its body is not: the request is \
        not repeatable.
        """

    init(_ record: AttemptRecord, isTicket: Bool, wall: WallTime) {
        let (failure, connection) = (record.failure, record.connection)
        self.init(
            number: record.number, trigger: record.trigger.rawValue,
            startedAt: wall.text(of: record.startedAt), endedAt: record.endedAt.map(wall.text(of:)), path: record.path?.rawValue,
            phase: failure?.phase.rawValue, kind: failure?.kind.rawValue,
            evidence: record.evidence?.rawValue, message: (failure?.message).map { MaskedTicketIDs.text($0) }, status: record.status,
            // A status that is not delivered is a failure without facts about its connection.
            bytesSent: connection?.bytesSent ?? failure?.bytesSent,
            reusedConnection: connection?.reusedConnection ?? failure?.reusedConnection,
            localAddress: connection?.localAddress ?? failure?.localAddress,
            remoteAddress: connection?.remoteAddress ?? failure?.remoteAddress,
            curlCode: failure?.curlCode, osError: failure?.osError,
            verdict: record.verdict?.word, rule: record.verdict?.rule,
            text: isTicket && record.brokeOff ? Self.brokeOff : record.verdict?.sentence(isTicket: isTicket))
    }
}

extension PresentStateDocument {
    init(_ entry: Entry, reachability: ReachabilityView, _ view: EntryView) {
        let wall = view.wall
        let until: Timestamp? =
            switch entry.state {
            case .waiting: entry.nextAttemptAt ?? entry.expiresAt
            case .held, .undecided: entry.expiresAt
            case .attempting, .delivered, .cancelled, .expired, .failed: nil
            }
        self.init(
            state: entry.state.rawValue, waitingFor: entry.waitingFor?.rawValue, why: entry.why?.rawValue,
            until: until.map(wall.text(of:)),
            text: PresentStateText(entry: entry, reachability: reachability, view: view).text,
            key: Self.decidingKey(of: entry, reachability))
    }

    /// The configuration key that decides what the entry waits for now; nil if no key does.
    private static func decidingKey(of entry: Entry, _ reachability: ReachabilityView) -> String? {
        let policy = "policies.\(entry.policy.name)"
        switch entry.state {
        case .attempting: return "timeouts.firstByte"
        case .held, .delivered, .cancelled, .expired, .failed: return nil
        case .undecided:
            return switch entry.why {
            case .maybeApplied: "\(policy).onMaybeApplied"
            case .exhausted: "\(policy).automaticAttemptsMax"
            case .credentialsExpired, .rejected, .parentFailed, nil: nil
            }
        case .waiting: break
        }
        return switch entry.waitingFor {
        case .network: reachability.mode == .offline ? "reachability.mode" : "\(policy).wakeOnReachable"
        case .origin, .time, nil: "\(policy).delay"
        case .turn: "limits.perOriginAttempts"
        case .lane: entry.why == nil ? "\(policy).lane" : "\(policy).undecidedInLane"
        case .parent: nil
        case .pause: "\(policy).retryAfterMax"
        }
    }
}
