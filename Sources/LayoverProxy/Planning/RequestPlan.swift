import LayoverCore
import LayoverEngine
import LayoverHTTP

/// What is to be done with a request.
enum RequestPlan {
    case forward(ForwardPlan)
    /// It asks after a ticket.
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
    /// What the client takes when its time on the connection is over.
    var ticket: TicketWish?
    /// Whether it becomes a ticket before any attempt.
    var isAcceptedAtOnce = false
    /// Not nil where a ticket may come of it that has an `Idempotency-Key`.
    var digest: PayloadDigest?
    /// Not nil where it came by the base URL of a route.
    var baseURL: BaseURLUse?

    /// When its client takes a ticket.
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
