import LayoverCore
import LayoverTestSupport

extension Simulation {
    /// The fraction of the attempts of a download, in percent, whose connection breaks inside the response.
    private static let breakRate = 75

    /// A request whose response breaks off again and again.
    func makeDownload() -> [RequestTruth]? {
        guard isUnlucky(12) else { return nil }
        let request = RequestTruth(
            number: requests.count + 1, method: "GET", origin: origins[Int.random(in: 0..<origins.count, using: &misfortune)],
            hasKey: false, policyName: [nil, "limited", "standin", "standin"].randomElement(using: &misfortune) ?? nil, asksToPass: false,
            expectsContinue: false, isChunked: false, bodyByteCount: nil, carriesCredentials: false)
        request.isDownload = true
        requests[request.number] = request
        return [request]
    }

    /// The reply to an attempt of a download whose origin answers.
    func fateOfDownload(_ reply: Fate.Reply, using generator: inout SeededGenerator) -> Fate.Reply {
        guard reply.status == 200 else { return reply }
        var reply = reply
        // A long kept response goes to a file, whose threads have no fixed order.
        reply.bodyByteCount = storesTickets || Bool.random(using: &generator) ? 400 : 300_000
        reply.isTagged = true
        reply.isChunked = Int.random(in: 0..<10, using: &generator) == 0
        reply.diesAfter = nil
        if Int.random(in: 0..<100, using: &generator) < Self.breakRate {
            reply.partByteCount = reply.bodyByteCount / 20
            reply.diesAfter = Int.random(in: 0..<reply.bodyByteCount / 2, using: &generator)
        }
        return reply
    }
}
