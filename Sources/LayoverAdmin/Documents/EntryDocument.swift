import LayoverCore
import LayoverHTTP

/// An entry as programs see it. Names are the contract's.
package struct EntryDocument: Codable, Sendable {
    package var id: String
    /// The id of the ticket for its client, or stars for callers without the token; null if it is no ticket.
    @OrNull package var ticket: String?
    package var revision: Int
    package var state: String
    @OrNull package var waitingFor: String?
    @OrNull package var why: String?
    package var method: String
    package var url: String
    package var host: String
    @OrNull package var route: String?
    package var policy: String
    @OrNull package var lane: String?
    package var priority: Int
    package var attempts: Int
    @OrNull package var automaticLeft: Int?
    package var createdAt: String
    package var parkedAt: String
    /// When the entry ended; left out for live entries.
    package var endedAt: String?
    @OrNull package var nextAttemptAt: String?
    package var expiresAt: String
    @OrNull package var lastFailure: FailureDocument?
    /// The attempt under way; left out where there is none.
    package var attempt: ProgressDocument?
    /// How far its response is that broke off and goes on; left out where none did.
    package var resume: ResumeDocument?
    package var client: ClientDocument
    package var requestBytes: Int
    package var bodyReplayable: Bool
    @OrNull package var incident: String?
    package var actions: [String]
    /// The tickets that have to be delivered before it; left out where there are none.
    package var parents: [String]?
    /// The request that took its place; left out where there is none.
    package var supersededBy: String?
    /// The response that was delivered, or that came after the client had disconnected; left out where there is none.
    package var response: ResponseDocument?
    /// When the attempt that a person asked for is made; left out where no one asked.
    package var willGo: String?
    /// The request that has to be done before this one: of its lane, or one that it depends on; left out if there is none.
    package var waitingOn: String?
    /// The person who said that the origin has processed the request; left out unless that made it delivered.
    package var settledBy: SettlementDocument?
    /// The newest command for the entry; left out if there was none.
    package var lastCommand: CommandDocument?
}

/// The attempt under way of an entry, and how far it has got.
package struct ProgressDocument: Codable, Sendable {
    package var startedAt: String
    package var phase: String
    /// Bytes of the body of the request that were handed over for sending.
    package var bytesSent: Int64

    init(_ progress: AttemptProgress?, startedAt: String) {
        self.startedAt = startedAt
        phase = (progress ?? AttemptProgress()).phase.rawValue
        bytesSent = progress?.bytesSent ?? 0
    }
}

/// How far a response is that broke off, at its last break.
package struct ResumeDocument: Codable, Sendable {
    /// Bytes of its body that the client has been sent.
    package var done: Int
    /// Bytes of the whole body.
    package var total: Int
    /// How often it went on.
    package var times: Int

    init(_ progress: ResumeProgress) {
        done = progress.done
        total = progress.total
        times = progress.times
    }
}

/// A response without its fields and its body.
package struct ResponseDocument: Codable, Sendable {
    package var status: Int
}

extension EntryDocument {
    init(_ entry: Entry, _ view: EntryView) {
        let wall = view.wall
        self.init(
            id: view.shown(entry.id), ticket: entry.ticket.map { _ in view.ticket(entry.id) },
            revision: entry.revision, state: entry.state.rawValue,
            waitingFor: entry.waitingFor?.rawValue, why: entry.why?.rawValue, method: entry.method,
            url: MaskedURL.text(entry.url), host: entry.origin.host, route: entry.route,
            policy: entry.policy.name, lane: entry.shownLane, priority: entry.priority,
            attempts: entry.attemptCount, automaticLeft: entry.automaticLeft,
            createdAt: wall.text(of: entry.createdAt), parkedAt: wall.text(of: entry.parkedAt),
            endedAt: entry.endedAt.map(wall.text(of:)),
            nextAttemptAt: entry.nextAttemptAt.map(wall.text(of:)),
            expiresAt: wall.text(of: entry.expiresAt),
            lastFailure: entry.lastFailure.map {
                FailureDocument($0, at: wall.text(of: entry.lastFailureAt ?? entry.parkedAt))
            },
            attempt: entry.attemptStartedAt.map { ProgressDocument(entry.attemptProgress, startedAt: wall.text(of: $0)) },
            resume: entry.resume.map(ResumeDocument.init),
            client: ClientDocument(entry), requestBytes: entry.requestByteCount,
            bodyReplayable: entry.isBodyReplayable,
            // An ended entry is in no outage.
            incident: entry.state.isFinal ? nil : entry.incident?.description,
            actions: view.mayCommand ? entry.actions.map(\.rawValue) : [],
            parents: entry.ticket.flatMap { $0.parents.isEmpty ? nil : $0.parents.map(view.shown) },
            supersededBy: entry.supersededBy.map(view.shown),
            response: entry.deliveredStatus.map { ResponseDocument(status: $0) }, willGo: entry.willGo?.rawValue,
            waitingOn: entry.waitingOn.map(view.shown),
            settledBy: entry.settledBy.map { SettlementDocument($0, wall) },
            lastCommand: entry.lastCommand.map { CommandDocument($0, wall) })
    }
}

/// A command as it is kept with its entry.
package struct CommandDocument: Codable, Sendable {
    package var name: String
    /// `admin`, `loopback` or `client`.
    package var who: String
    /// Address and port of the connection.
    @OrNull package var from: String?
    package var at: String
    @OrNull package var reason: String?

    init(_ command: CommandRecord, _ wall: WallTime) {
        name = command.name.rawValue
        who = command.author.who
        _from = OrNull(wrappedValue: command.author.from)
        at = wall.text(of: command.at)
        _reason = OrNull(wrappedValue: command.reason)
    }
}

/// The word of a person that the origin has processed a request.
package struct SettlementDocument: Codable, Sendable {
    package var who: String
    @OrNull package var from: String?
    package var at: String
    /// The status that the origin is said to have answered with.
    @OrNull package var status: Int?
    @OrNull package var note: String?

    init(_ settlement: Settlement, _ wall: WallTime) {
        who = settlement.author.who
        _from = OrNull(wrappedValue: settlement.author.from)
        at = wall.text(of: settlement.at)
        _status = OrNull(wrappedValue: settlement.outcome.status)
        _note = OrNull(wrappedValue: settlement.outcome.note)
    }
}

/// The client of an entry.
package struct ClientDocument: Codable, Sendable {
    package var address: String
    package var connected: Bool
    @OrNull package var userAgent: String?

    init(_ entry: Entry) {
        address = entry.client.address
        // The client of an ended entry got a response or left.
        connected = entry.client.isConnected && !entry.state.isFinal
        _userAgent = OrNull(wrappedValue: entry.client.userAgent)
    }
}

/// The last failed attempt of an entry.
package struct FailureDocument: Codable, Sendable {
    package var kind: String
    package var phase: String
    package var evidence: String
    package var message: String
    package var at: String
    @OrNull package var curlCode: Int32?
    @OrNull package var osError: Int32?

    init(_ failure: Failure, at: String) {
        kind = failure.kind.rawValue
        phase = failure.phase.rawValue
        evidence = failure.evidence.rawValue
        message = MaskedTicketIDs.text(failure.message)
        self.at = at
        _curlCode = OrNull(wrappedValue: failure.curlCode)
        _osError = OrNull(wrappedValue: failure.osError)
    }
}

/// How entries are shown to one caller.
///
/// The id of a ticket is a key: it opens the stored response. So entries are shown by another id here, and the ticket's id is
/// shown only to callers that may see bodies too (`AdminAccess`).
struct EntryView: Sendable {
    let wall: WallTime
    let naming: EntryNaming
    let showsTickets: Bool
    /// Whether the caller may give commands; otherwise none are named.
    var mayCommand = true

    /// The id by which an entry is shown.
    func shown(_ id: EntryID) -> String { naming.shown(id).description }

    /// The id of the ticket for the client of an entry.
    func ticket(_ id: EntryID) -> String { showsTickets ? id.description : MaskedURL.mask }
}

/// The request of an entry, with the fields that are sent to its origin. Values that may be credentials are masked.
package struct RequestDocument: Codable, Sendable {
    package struct Field: Codable, Sendable {
        package var name: String
        package var value: String
    }

    package var id: String
    package var method: String
    /// Secrets are masked.
    package var url: String
    /// In their order.
    package var fields: [Field]
    /// The length of the body.
    package var bytes: Int
}

extension RequestDocument {
    init(_ entry: Entry, fields: some Sequence<FieldSlice>, _ view: EntryView) {
        self.init(
            id: view.shown(entry.id), method: entry.method, url: MaskedValue.text(entry.url),
            fields: fields.filter(\.isField).map { field in
                let isMasked = CredentialFields.mayBeOne(field.name)
                return Field(name: field.name, value: isMasked ? MaskedURL.mask : MaskedValue.text(field.text))
            }, bytes: entry.requestByteCount)
    }
}
