import LayoverCore
import LayoverTestSupport

extension Simulation {
    /// Connections that are open at a time.
    private static let openClientCountMax = 14

    func addClient() throws {
        guard clients.count(where: { !$0.isClosed }) < Self.openClientCountMax else { return }
        let isTunnel = chance(7)
        let count = isTunnel ? 1 : [1, 1, 2, 4].randomElement(using: &generator) ?? 1
        let requests = makeDrafts() ?? makeDelicate() ?? makeDownload() ?? (0..<count).map { _ in makeRequest(isTunnel: isTunnel) }
        try addClient(with: requests)
        maySendTwins(of: requests)
        maySendCrowd()
        if chance(50) { settle() }
    }

    func addClient(with requests: [RequestTruth]) throws {
        clientCount += 1
        let lane = lanes[Int.random(in: 0..<lanes.count, using: &generator)]
        let client = SimulatedClient(
            number: clientCount, requests: requests, loop: lane.loop, embedded: lane.embedded,
            simulation: self)
        clients.append(client)
        try client.connect()
    }

    private func makeRequest(isTunnel: Bool) -> RequestTruth {
        if !isTunnel, chance(8), let subject = told.randomElement(using: &generator) { return makeQuestion(subject) }
        if !isTunnel, chance(8), let again = makeRepetition() { return again }
        let methods = ["GET", "GET", "HEAD", "POST", "POST", "POST", "PUT", "DELETE", "PATCH"]
        let method = isTunnel ? "CONNECT" : methods.randomElement(using: &generator) ?? "GET"
        let mayHaveBody = ["POST", "PUT", "PATCH"].contains(method)
        let sizes = [1, 40, 700, 1400, 4000]
        let bodyByteCount = mayHaveBody && chance(70) ? sizes.randomElement(using: &generator) : nil
        var origin = origins.randomElement(using: &generator) ?? origins[0]
        if isTunnel { origin = Origin(scheme: .tunnel, host: "t.example", port: 443) }
        let request = RequestTruth(
            number: requests.count + 1, method: method, origin: origin,
            hasKey: method == "POST" && chance(30),
            policyName: chance(60)
                ? Self.policyNames.randomElement(using: &generator) : chance(20) ? "decide" : nil,
            asksToPass: chance(6), expectsContinue: bodyByteCount != nil && chance(25), isChunked: chance(30),
            bodyByteCount: bodyByteCount, carriesCredentials: chance(25))
        if storesTickets, !isTunnel, !request.asksToPass { request.order = makeWords() }
        requests[request.number] = request
        return request
    }

    private func makeQuestion(_ subject: RequestTruth) -> RequestTruth {
        let question = RequestTruth(
            number: requests.count + 1, method: "GET", origin: origins[0], hasKey: false, policyName: nil,
            asksToPass: false, expectsContinue: false, isChunked: false, bodyByteCount: nil,
            carriesCredentials: false)
        let kind = TicketAsk.Kind.allCases.randomElement(using: &generator) ?? .look
        question.question = TicketAsk(kind: kind, of: subject)
        if kind == .drop { subject.isCancelAsked = true }
        requests[question.number] = question
        return question
    }

    /// Requests before the newest that a twin may have, so that most come at the same time.
    private static let twinDistanceMax = 12

    /// The same request once more, with the same key, whether its client heard of a ticket, or of anything, or not.
    private func makeRepetition() -> RequestTruth? {
        let known = requests.values.filter { request in
            guard request.hasKey, request.original == nil else { return false }
            return request.order.isTicketAtOnce && request.isSent
                || request.order.isTicketLater && request.number > requests.count - Self.twinDistanceMax
        }
        return known.sorted(by: { $0.number < $1.number }).randomElement(using: &generator).map(makeTwin)
    }

    func makeTwin(of first: RequestTruth) -> RequestTruth {
        let again = RequestTruth(
            number: requests.count + 1, method: first.method, origin: first.origin, hasKey: true,
            policyName: first.policyName, asksToPass: false, expectsContinue: first.expectsContinue,
            isChunked: first.isChunked, bodyByteCount: first.bodyByteCount,
            carriesCredentials: first.carriesCredentials)
        again.original = first
        if first.order.isTicketLater { first.hasTwins = true }
        requests[again.number] = again
        return again
    }

    private func makeWords() -> TicketWords {
        var words = TicketWords()
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: words.prefer = "respond-async"
        case ..<3: words.prefer = "respond-async, wait=0"
        case ..<5: words.prefer = "respond-async, wait=\([1, 1, 5].randomElement(using: &generator) ?? 1)"
        case 5: words.isDeferred = true
        case 6: words.prefer = "wait=2"
        default: break
        }
        if chance(25) { words.lane = ["x", "y"].randomElement(using: &generator) }
        if chance(15) { words.priority = Int.random(in: 0...7, using: &generator) }
        if chance(15), words.isDeferred || words.prefer?.hasPrefix("respond-async") == true {
            // A ticket that supersedes a draft would be another parent.
            words.after = told.suffix(8).filter { chance(25) && !$0.isDraft }
        }
        return words
    }

    func clientActs() {
        let open = clients.filter { !$0.isClosed }
        // Their requests are adopted, whether the disk has room or not.
        let adopted = open.filter { $0.current?.policyName == "adopting" && $0.current?.isSent == true }
        if let client = adopted.randomElement(using: &generator), chance(50) {
            if chance(70) { refusedCommitCount = 4 }
            client.leave()
            return arriveSome()
        }
        guard let client = open.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<10, using: &generator) {
        case ..<3: client.leave()
        case ..<5: client.closeSocket()
        case ..<6: client.closeOutput()
        case ..<8: client.stopTaking()
        default: for client in open { client.takeAgain() }
        }
        if chance(50) { settle() }
    }
}
