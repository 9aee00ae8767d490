import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// Name and password, before anything else is done for a request (RFC 9110 section 11.7).
extension ClientConnection {
    /// Goes on with the request once it is known who asks, or refuses it.
    func authenticate(_ head: RequestHead, by users: UserAccess) {
        guard !isOwn, intercepted == nil, loop.planner.asksForUser(head) else { return admit(head, user) }
        switch users.verdict(on: head) {
        case .admitted(let user): admit(head, user)
        case .refused: refuseUser(of: head)
        case .unknown(let credential):
            let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
            users.check(credential, from: clientAddress, on: loop.eventLoop).assumeIsolated().whenComplete { result in
                bound.value.checked(head, result, by: users)
            }
        }
    }

    private func checked(_ head: RequestHead, _ result: Result<UserAccess.Verdict, any Error>, by users: UserAccess) {
        // The client may have left meanwhile.
        guard phase == .exchanging, exchange == nil else { return }
        // After a reload other users count.
        if let current = loop.users, current !== users {
            authenticate(head, by: current)
        } else {
            switch result {
            case .success(.admitted(let user)): admit(head, user)
            case .success: return refuseGuess(of: head, by: users)
            case .failure: refuse(Self.tooManyChecks, to: head)
            }
        }
        guard phase != .exchanging || exchange != nil else { return }
        process()
        readMore()
    }

    /// Refuses a credential that was just found to be wrong, later with each one from the same address.
    private func refuseGuess(of head: RequestHead, by users: UserAccess) {
        let delay = users.refusalDelay(from: clientAddress, at: loop.engine.clock.now())
        guard delay > .zero else { return finishGuess(head) }
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.scheduleTask(in: TimeAmount(delay)) { bound.value.finishGuess(head) }
    }

    private func finishGuess(_ head: RequestHead) {
        // The client may have left in the meantime.
        guard phase == .exchanging, exchange == nil else { return }
        refuseUser(of: head)
        guard phase != .exchanging else { return }
        process()
        readMore()
    }

    private func admit(_ head: RequestHead, _ user: UserCount?) {
        user?.requestCount.increment()
        access?.user = user?.name
        if head.method == .connect { self.user = user }
        plan(head)
    }

    private func refuseUser(of head: RequestHead) {
        loop.metrics.unauthenticatedRequestCount.increment()
        let detail =
            head.fields.contains(.proxyAuthorization)
            ? "The user name or the password is wrong, or Proxy-Authorization is not of the scheme Basic."
            : "This proxy asks for a user name and a password: http_proxy=http://NAME:PASSWORD@HOST:PORT."
        refuse(Refusal(407, "proxy_authentication_required", detail, error: .httpRequestDenied), to: head)
    }

    private static var tooManyChecks: Refusal {
        var problem = Problem(
            status: 503, kind: "limit", detail: "Too many passwords wait to be checked.",
            error: .connectionLimitReached)
        problem.retryAfter = .seconds(1)
        return Refusal(problem: problem)
    }
}

extension RequestPlanner {
    /// Whether a request has to name a user. Not where its path has a secret already: the address of a ticket, or the key of a route,
    /// which is checked later.
    func asksForUser(_ head: RequestHead) -> Bool {
        guard case .origin = head.target else { return true }
        let target = head.targetString
        if target.hasPrefix(TicketAddress.prefix) { return false }
        guard target.hasPrefix(Self.routePrefix) else { return true }
        let name = target.dropFirst(Self.routePrefix.count).prefix { $0 != "/" && $0 != "?" }
        return rules.routes.route(named: String(name))?.key == nil
    }
}
