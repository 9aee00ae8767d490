/// What a request is: the same from its arrival to its end, whatever becomes of its attempts.
///
/// A new entry, an entry of the pending set, the record of a ticket and its replay have the same one.
package struct RequestDescription: Sendable, Hashable {
    /// The address of its ticket too, and so a secret of its client: it is shown by another one (`EntryNaming`).
    package let id: EntryID
    package var method: String
    /// The target without userinfo; `host:port` for CONNECT.
    package var url: String
    package var origin: Origin
    package var createdAt: Timestamp
    package var hasIdempotencyKey: Bool
    /// Whether it carries a body or credentials over plain http: a captive portal must not get it.
    package var isExposed: Bool
    /// True if `url` is only the beginning of it. The whole URL is in the row of its ticket. Never set before the ticket has
    /// ended and that is on disk.
    package var isURLInStore = false
    /// What it expects of the present state of its target (RFC 9110 section 13.1, and the range of a partial PUT), as
    /// text that is equal for equal expectations; nil: nothing.
    package var preconditions: String?

    package init(
        id: EntryID, method: String, url: String, origin: Origin, createdAt: Timestamp, hasIdempotencyKey: Bool = false,
        isExposed: Bool = false, preconditions: String? = nil
    ) {
        self.id = id
        self.method = method
        self.url = url
        self.origin = origin
        self.createdAt = createdAt
        self.hasIdempotencyKey = hasIdempotencyKey
        self.isExposed = isExposed
        self.preconditions = preconditions
    }
}

/// How a request stands: what changes while it waits, and is kept of a ticket.
package struct RequestStanding: Sendable, Hashable {
    /// Grows with every change.
    package var revision = 1
    package var client: Entry.Client
    package var route: String?
    /// 0 (first) to 7 (last) among the entries of its origin (RFC 9218).
    package var priority: Int
    /// The entries among which it keeps its order; nil: none.
    package var lane: String?
    package var counts = AttemptCounts()
    package var requestByteCount: Int
    package var parkedAt: Timestamp
    /// When its own wait is over.
    package var dueAt: Timestamp
    /// When its client gets a 504 or its life ends, whichever is first.
    package var expiresAt: Timestamp
    /// When it came to its end; not nil exactly when its state is final.
    package var endedAt: Timestamp?
    @Boxed package var lastFailure: Failure?
    package var attempts = AttemptLog()
    /// The newer request that took its place.
    @Boxed package var supersededBy: EntryID?
    /// Who said that the origin has it; nil unless it was delivered by the word of a person.
    @Boxed package var settledBy: Settlement?
    /// Its response that broke off; nil where none did.
    @Boxed private var brokenResponse: BrokenResponse?
    /// The newest command for it.
    @Boxed package var lastCommand: CommandRecord?
    // Together with what takes a byte: apart, it would take eight more.
    package var lastFailureAt: Timestamp?
    /// Whether a person stopped its automatic attempts; it stays so over attempts that a person asks for.
    package var isHeldBack = false
    /// Whether a person took the risk that it acts twice, and no attempt has come of that yet.
    package var isForced = false
    /// Whether a person set its deadline, so that a policy does not.
    package var hasOwnDeadline = false
    /// Whether a person or its client set its priority, so that a policy does not.
    package var hasOwnPriority = false

    package init(
        client: Entry.Client, route: String? = nil, priority: Int = 3, lane: String? = nil, requestByteCount: Int = 0,
        parkedAt: Timestamp, dueAt: Timestamp, expiresAt: Timestamp
    ) {
        self.client = client
        self.route = route
        self.priority = priority
        self.lane = lane
        self.requestByteCount = requestByteCount
        self.parkedAt = parkedAt
        self.dueAt = dueAt
        self.expiresAt = expiresAt
        _lastFailure = Boxed(wrappedValue: nil)
        _supersededBy = Boxed(wrappedValue: nil)
        _settledBy = Boxed(wrappedValue: nil)
        _brokenResponse = Boxed(wrappedValue: nil)
        _lastCommand = Boxed(wrappedValue: nil)
    }
}

extension RequestStanding {
    /// What is known of a response that broke off. Few requests have one.
    private struct BrokenResponse: Sendable, Hashable {
        var progress: ResumeProgress
        var movedAt: Timestamp?
    }

    /// How far its response is that broke off; nil where none did.
    package var resume: ResumeProgress? {
        get { brokenResponse?.progress }
        set { brokenResponse = newValue.map { BrokenResponse(progress: $0, movedAt: brokenResponse?.movedAt) } }
    }

    /// When its response broke off last behind bytes that had not come before; nil: not since it joined.
    package var responseMovedAt: Timestamp? {
        get { brokenResponse?.movedAt }
        set { brokenResponse?.movedAt = newValue }
    }
}

/// Something that has a request and knows how it stands: an entry of the pending set, the record of a ticket.
package protocol StandingRequest {
    var request: RequestDescription { get }
    var standing: RequestStanding { get set }
    /// The wish of the request itself about its policy.
    var wish: PolicyWish { get }
}

extension StandingRequest {
    package var id: EntryID { request.id }
    package var method: String { request.method }
    package var url: String { request.url }
    package var origin: Origin { request.origin }
    package var createdAt: Timestamp { request.createdAt }
    package var hasIdempotencyKey: Bool { request.hasIdempotencyKey }
    package var isExposed: Bool { request.isExposed }
    package var preconditions: String? { request.preconditions }

    package var revision: Int { get { standing.revision } set { standing.revision = newValue } }
    package var client: Entry.Client { get { standing.client } set { standing.client = newValue } }
    package var route: String? { get { standing.route } set { standing.route = newValue } }
    package var priority: Int { get { standing.priority } set { standing.priority = newValue } }
    package var lane: String? { get { standing.lane } set { standing.lane = newValue } }
    package var counts: AttemptCounts { get { standing.counts } set { standing.counts = newValue } }
    package var requestByteCount: Int { get { standing.requestByteCount } set { standing.requestByteCount = newValue } }
    package var parkedAt: Timestamp { get { standing.parkedAt } set { standing.parkedAt = newValue } }
    package var dueAt: Timestamp { get { standing.dueAt } set { standing.dueAt = newValue } }
    package var expiresAt: Timestamp { get { standing.expiresAt } set { standing.expiresAt = newValue } }
    package var endedAt: Timestamp? { get { standing.endedAt } set { standing.endedAt = newValue } }
    package var lastFailure: Failure? { get { standing.lastFailure } set { standing.lastFailure = newValue } }
    package var lastFailureAt: Timestamp? { get { standing.lastFailureAt } set { standing.lastFailureAt = newValue } }
    package var attempts: AttemptLog { get { standing.attempts } set { standing.attempts = newValue } }
    package var supersededBy: EntryID? { get { standing.supersededBy } set { standing.supersededBy = newValue } }
    package var settledBy: Settlement? { get { standing.settledBy } set { standing.settledBy = newValue } }
    package var resume: ResumeProgress? { get { standing.resume } set { standing.resume = newValue } }
    var responseMovedAt: Timestamp? { get { standing.responseMovedAt } set { standing.responseMovedAt = newValue } }
    package var lastCommand: CommandRecord? { get { standing.lastCommand } set { standing.lastCommand = newValue } }
    package var isHeldBack: Bool { get { standing.isHeldBack } set { standing.isHeldBack = newValue } }
    package var isForced: Bool { get { standing.isForced } set { standing.isForced = newValue } }
    package var hasOwnDeadline: Bool { get { standing.hasOwnDeadline } set { standing.hasOwnDeadline = newValue } }
    package var hasOwnPriority: Bool { get { standing.hasOwnPriority } set { standing.hasOwnPriority = newValue } }

    /// Attempts made so far.
    package var attemptCount: Int { counts.all }
    /// Whether any attempt so far may have been applied.
    package var mayHaveBeenApplied: Bool { counts.mayHaveBeenApplied }
}

/// A value that most of its owners do not have: room for a pointer instead of for the value itself.
///
/// It behaves like a plain optional; what is in the box is never changed, only replaced.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box?

    /// Nil. In other modules the compiler does not specialize the initializer below, which looks for metadata of its types at run time:
    /// a hundred times as many instructions.
    package init() { box = nil }

    package init(wrappedValue: Value?) { box = wrappedValue.map(Box.init) }

    package var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map(Box.init) }
    }
}

extension Boxed: Equatable where Value: Equatable {
    package static func == (one: Self, other: Self) -> Bool { one.wrappedValue == other.wrappedValue }
}

extension Boxed: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
