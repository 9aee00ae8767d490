import LayoverCore
import LayoverEngine
import LayoverHTTP

/// What is to be done with a request.
enum RequestPlan {
    case forward(ForwardPlan)
    case answer(OwnResponse)
}

/// A request on its way upstream, before its first attempt. The body is not there yet.
struct ForwardPlan {
    var request: UpstreamRequest
    var policy: Policy
    var route: String?
    var hasIdempotencyKey: Bool
    /// What the client said of its policy; it goes on saying so after a reload.
    var wish: PolicyWish
}

/// What a request's own fields say about its policy (`Layover-Policy`, `Layover-Mode`).
struct PolicyWish: Equatable {
    var name: String?
    var mode: Policy.Mode?
}
