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

    init(request: UpstreamRequest, policy: Policy, route: String?, hasIdempotencyKey: Bool, wish: PolicyWish) {
        self.request = request
        self.policy = policy
        self.route = route
        self.hasIdempotencyKey = hasIdempotencyKey
        self.wish = wish
    }
}
