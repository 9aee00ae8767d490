import LayoverCore
import LayoverTestSupport

extension Simulation {
    /// Connections that are open at a time.
    private static let openClientCountMax = 14

    func addClient() throws {
        guard clients.count(where: { !$0.isClosed }) < Self.openClientCountMax else { return }
        clientCount += 1
        let isTunnel = chance(7)
        let count = isTunnel ? 1 : [1, 1, 2, 4].randomElement(using: &generator) ?? 1
        let requests = (0..<count).map { _ in makeRequest(isTunnel: isTunnel) }
        let lane = lanes[Int.random(in: 0..<lanes.count, using: &generator)]
        let client = SimulatedClient(
            number: clientCount, requests: requests, loop: lane.loop, embedded: lane.embedded,
            simulation: self)
        clients.append(client)
        try client.connect()
        if chance(50) { settle() }
    }

    private func makeRequest(isTunnel: Bool) -> RequestTruth {
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
        requests[request.number] = request
        return request
    }

    func clientActs() {
        let open = clients.filter { !$0.isClosed }
        guard let client = open.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<10, using: &generator) {
        case ..<4: client.leave()
        case ..<6: client.closeOutput()
        case ..<8: client.stopTaking()
        default: for client in open { client.takeAgain() }
        }
        if chance(50) { settle() }
    }
}
