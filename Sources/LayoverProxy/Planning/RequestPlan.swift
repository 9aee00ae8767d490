import LayoverCore
import LayoverEngine
import LayoverHTTP

/// The plan for one request.
enum RequestPlan {
    case forward(ForwardPlan)
    /// The request asks after a ticket.
    case ticket(TicketQuestion)
    case answer(OwnResponse)
    /// CONNECT to a host that is intercepted.
    case intercept(ForwardPlan)
}

/// A request on its way upstream, before its first attempt. The body is not there yet.
///
/// A class, because it passes through several hands on the fast path, and its parts are expensive to copy.
final class ForwardPlan {
    var request: UpstreamRequest
    var policy: Policy
    var route: String?
    /// `RouteTable.number` of the table by which it was planned.
    let routesNumber: Int
    var hasIdempotencyKey: Bool
    /// What the client said of its policy; it goes on saying so after a reload.
    var wish: PolicyWish
    var order = OrderWish()
    /// The client's wish for a ticket. Nil: the client takes none.
    var ticket: TicketWish?
    /// Whether the request becomes a ticket before any attempt.
    var isAcceptedAtOnce = false
    /// The digest of a request with an `Idempotency-Key` that may become a ticket. Nil for other requests.
    var digest: PayloadDigest?
    /// The base URL by which the request came. Nil: it came by no base URL.
    var baseURL: BaseURLUse?

    /// When the client of the request takes a ticket.
    var ticketMoment: ExchangeMachine.TicketMoment {
        guard let ticket else { return .never }
        if isAcceptedAtOnce { return .atOnce }
        if ticket.wait != nil { return .afterWait }
        return ticket.isWhenAway ? .whenAway : .atEnd
    }

    init(
        request: UpstreamRequest, policy: Policy, route: String?, by routes: RouteTable, hasIdempotencyKey: Bool, wish: PolicyWish
    ) {
        self.request = request
        self.policy = policy
        self.route = route
        routesNumber = routes.number
        self.hasIdempotencyKey = hasIdempotencyKey
        self.wish = wish
    }
}

/// A request's wish to become a ticket.
struct TicketWish: Sendable, Equatable {
    /// How long the client waits on its connection first. Zero: not at all. Nil: as long as it may wait there.
    var wait: Duration?
    /// What is said of it in `Preference-Applied` (RFC 7240 section 3); empty where its route or mode wants it.
    var applied: String
    /// Whether the origin gets the preference, and the client a ticket only where there is no response
    /// (`async: "whenAway"`). Default: false.
    var isWhenAway = false

    /// Whether the origin does not get the preference, because it is honoured here.
    var isHonoured: Bool { !applied.isEmpty && !isWhenAway }

    /// The same for a request that is accepted at once, because it waits for other tickets.
    var atOnce: TicketWish { TicketWish(wait: .zero, applied: applied.isEmpty ? "" : "respond-async") }
}

/// The order that a request, or its policy, asks for among others.
struct OrderWish: Equatable {
    /// `Priority: u=N` (RFC 9218); nil: the priority of the policy.
    var priority: Int?
    /// `Layover-Lane`, or the lane of the policy.
    var lane: String?
    /// `Layover-After`.
    var after: [EntryID] = []
}

/// Why a request is answered by the proxy itself, before any attempt.
struct Refusal: Error {
    var problem: Problem
    /// Whether the connection must be closed afterwards because the request's end is not known.
    var closes = false

    init(_ status: Int, _ kind: String, _ detail: String, error: FailureKind, closes: Bool = false) {
        problem = Problem(status: status, kind: kind, detail: detail, error: error)
        self.closes = closes
    }

    init(problem: Problem, closes: Bool = false) {
        self.problem = problem
        self.closes = closes
    }

    static func malformed(_ detail: String) -> Refusal {
        Refusal(400, "malformed", detail, error: .httpRequestError, closes: true)
    }
}
