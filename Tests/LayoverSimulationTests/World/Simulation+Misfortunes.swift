import LayoverCore

@testable import LayoverEngine
@testable import LayoverProxy

/// Faults at the worst moment, which chance alone would hit too rarely.
///
/// Its randomness is its own: where nothing of it happens, a seed tells the same story as without it.
extension Simulation {
    func isUnlucky(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &misfortune) < percent }

    /// While a ticket connects that was sent before, and that may be sent again only because its policy vouches for it, a
    /// reload takes that back; and then the process dies.
    func attemptBegan(_ attempt: SimulatedAttempt) {
        guard attempt.isOfTicket, !attempt.truth.sendings.isEmpty, attempt.isRepeatable, !attempt.truth.isRepeatableByNature,
            !isRecovering, !isDraining, isUnlucky(60)
        else { return }
        let lifeBefore = life
        let wait = Duration.milliseconds([2, 60, 400].randomElement(using: &misfortune) ?? 2)
        later(.milliseconds(1)) { [unowned self] in
            guard life == lifeBefore, !isDraining, attempt.isConnecting else { return }
            reload(to: configuration.routes.withoutVouching)
            later(wait) { [unowned self] in
                guard life == lifeBefore, !isDraining, attempt.isConnecting else { return }
                count("deaths after a reload")
                mustDie = true
            }
        }
    }

    /// A request was sent that may be sent again only because its policy vouches for it: while it waits for that, a reload
    /// takes that back.
    func attemptFailed(_ attempt: SimulatedAttempt, _ evidence: Evidence) {
        guard evidence == .maybeApplied, attempt.isRepeatable, !attempt.truth.isRepeatableByNature, !isRecovering, !isDraining,
            isUnlucky(30)
        else { return }
        let lifeBefore = life
        later(.milliseconds(20)) { [unowned self] in
            guard life == lifeBefore, !isDraining else { return }
            count("words taken back")
            reload(to: configuration.routes.withoutVouching)
        }
    }

    /// The upstream has all of a request whose client expects to be taken over, though the body is too long for that: the
    /// client leaves, and the connection breaks.
    func requestTaken(by attempt: SimulatedAttempt) {
        let request = attempt.truth
        if isUnlucky(8) { loseClient(of: request, "clients lost before the head") }
        if isUnlucky(8) { loseCrowd() }
        guard storesTickets, !isRecovering, !isDraining, request.policyName == "adopting",
            request.bodyByteCount ?? 0 > configuration.body.byteCountMax, isUnlucky(70),
            let client = clients.first(where: { $0.current === request })
        else { return }
        later(.zero) { client.leave() }
        guard isUnlucky(70) else { return }
        count("broken after its client left")
        attempt.breaks(after: .milliseconds(5))
    }

    /// The head of a response is on its way to a client.
    func responseBegan(_ response: ResponseReader.Response, _ client: SimulatedClient) {
        guard response.requestNumber != nil, let request = client.current, isUnlucky(request.hasTwins ? 60 : 8) else { return }
        loseClient(of: request, "clients lost after the head")
    }

    /// The upstream takes no more of a request, of which its client may have sent no more.
    func requestTakenInPart(by attempt: SimulatedAttempt) {
        guard attempt.truth.bodyByteCount != nil, !attempt.truth.isWhole, isUnlucky(40) else { return }
        loseClient(of: attempt.truth, "clients lost within the body")
    }

    /// All clients give up at almost the same time, as those of a server that hangs do.
    private func loseCrowd() {
        guard !isRecovering, !isDraining else { return }
        count("crowds lost")
        later(.milliseconds([0, 200, 1000].randomElement(using: &misfortune) ?? 0)) { [unowned self] in
            guard !isRecovering, !isDraining else { return }
            for client in clients where client.current?.isSent == true { client.leave() }
        }
    }

    private func loseClient(of request: RequestTruth, _ what: String) {
        guard !isRecovering, !isDraining, let client = clients.first(where: { $0.current === request && !$0.isClosed }) else { return }
        count(what)
        let isReset = isUnlucky(40)
        later(.milliseconds([0, 3, 200].randomElement(using: &misfortune) ?? 0)) {
            if isReset { client.leave() } else { client.closeSocket() }
        }
    }

    /// A request whose client expects that it is taken over, with a body that is too long for that; or a ticket that may be
    /// sent twice only because its policy vouches for it.
    func makeDelicate() -> [RequestTruth]? {
        guard storesTickets, isUnlucky(12) else { return nil }
        let isVouched = isUnlucky(50)
        let request = RequestTruth(
            number: requests.count + 1, method: isVouched || isUnlucky(50) ? "POST" : "PUT",
            origin: origins[Int.random(in: 0..<origins.count, using: &misfortune)],
            hasKey: false, policyName: isVouched ? "vouched" : "adopting", asksToPass: false, expectsContinue: false,
            isChunked: isUnlucky(30), bodyByteCount: isVouched ? 40 : 4000, carriesCredentials: false)
        if isVouched { request.order.prefer = "respond-async, wait=0" }
        requests[request.number] = request
        return [request]
    }

    /// Another client asks for the same at almost the same time.
    func maySendTwins(of requests: [RequestTruth]) {
        guard let first = requests.first, first.hasKey, first.original == nil, first.order.isTicketLater, isUnlucky(70) else { return }
        later(.milliseconds([1, 3, 20, 7000].randomElement(using: &misfortune) ?? 1)) { [unowned self] in
            guard !isRecovering, !isDraining else { return }
            try? addClient(with: [makeTwin(of: first)])
        }
    }

    /// An origin tells all to come again later, and several clients wait for the same moment.
    func maySendCrowd() {
        guard !isRecovering, !isDraining, Int.random(in: 0..<100, using: &crowding) < 3 else { return }
        count("crowds behind a pause")
        let origin = origins[Int.random(in: 0..<origins.count, using: &crowding)]
        moods[origin] = .busy
        let name = ["limited", "limited", "deferring"].randomElement(using: &crowding)
        for _ in 0..<Int.random(in: 3...6, using: &crowding) {
            later(.milliseconds([0, 5, 100, 500].randomElement(using: &crowding) ?? 5)) { [unowned self] in
                guard !isRecovering, !isDraining else { return }
                let request = RequestTruth(
                    number: requests.count + 1, method: "GET", origin: origin, hasKey: false, policyName: name, asksToPass: false,
                    expectsContinue: false, isChunked: false, bodyByteCount: nil, carriesCredentials: false)
                requests[request.number] = request
                try? addClient(with: [request])
            }
        }
    }

    /// PUTs to one URL of which a newer one may take the place of an older one; some break off before they are there.
    func makeDrafts() -> [RequestTruth]? {
        guard isUnlucky(12) else { return nil }
        let origin = origins[Int.random(in: 0..<2, using: &misfortune)]
        let draft = RequestTruth(
            number: requests.count + 1, method: "PUT", origin: origin, hasKey: false, policyName: "drafts",
            asksToPass: false, expectsContinue: false, isChunked: isUnlucky(30),
            bodyByteCount: [40, 700, 1400].randomElement(using: &misfortune), carriesCredentials: false)
        draft.isDraft = true
        draft.breaksOff = isUnlucky(40)
        if storesTickets, isUnlucky(25) { draft.order.prefer = "respond-async, wait=0" }
        requests[draft.number] = draft
        return [draft]
    }
}

extension RouteTable {
    /// The same, but no policy says any more that requests may be sent twice.
    fileprivate var withoutVouching: RouteTable {
        RouteTable(
            policies: policies.mapValues { policy in
                var policy = policy
                policy.repeatable = false
                return policy
            },
            routes: routes.map { route in
                var route = route
                route.policy.repeatable = false
                return route
            },
            parentProxies: parentProxies)
    }
}

extension UpstreamRequest {
    /// By which requests that share their URL are told apart.
    var userAgent: String? { fields.texts(of: "user-agent").first }
}
