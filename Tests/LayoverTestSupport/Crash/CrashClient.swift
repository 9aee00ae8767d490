import Foundation

/// One client of the crash test: it sends one request after the other until the proxy is gone. Blocks; it lives on a
/// thread of its own.
struct CrashClient: Sendable {
    let number: Int
    let round: Int
    let ports: (proxy: Int, origin: Int)
    let ledger: CrashLedger
    var generator: SeededGenerator
    /// How many requests it has put into its lanes so far, in all rounds: by the lane's number.
    var lanes: [Int: Int]

    /// - Returns: How its lanes stand.
    mutating func run(count: Int) -> [Int: Int] {
        for index in 0..<count {
            do { try step(index) } catch { return lanes }
        }
        return lanes
    }

    private mutating func step(_ index: Int) throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: try look()
        case 1:
            guard let old = ledger.oneToRepeat(using: &generator) else { return try sendNew(index) }
            try send(old)
        default: try sendNew(index)
        }
    }

    private mutating func sendNew(_ index: Int) throws {
        var request = CrashRequest(id: "r\(round)-c\(number)-\(index)", using: &generator)
        let isTicketAtOnce = request.way != .asyncWait
        if isTicketAtOnce, Int.random(in: 0..<3, using: &generator) == 0 {
            let lane = Int.random(in: 0..<3, using: &generator)
            lanes[lane, default: 0] += 1
            request.place = .init(lane: "c\(number)-l\(lane)", number: lanes[lane, default: 0], skips: lane == 0)
        } else if isTicketAtOnce, Int.random(in: 0..<4, using: &generator) == 0 {
            request.parent = ledger.anyTicket(using: &generator)
        }
        ledger.sends(request, round: round)
        try send(request)
    }

    private func send(_ request: CrashRequest) throws {
        let connection = try RawConnection(port: ports.proxy)
        try connection.send(request.bytes(origin: ports.origin))
        let response = try PlainResponse(connection.receiveAll(within: .seconds(30)))
        ledger.change(request.id) { fate in
            if response.status == 202, let ticket = response.ticket {
                fate.tickets.append(ticket)
            } else {
                fate.otherStatuses.append(response.status)
                if response.status == 503 { fate.refusedRounds.append(round) }
            }
        }
    }

    /// Asks how a ticket stands. Once it was told an end, that is the end.
    private mutating func look() throws {
        guard let (id, ticket) = ledger.anyTicket(using: &generator) else { return }
        let connection = try RawConnection(port: ports.proxy)
        try connection.send(
            "GET /.layover/tickets/\(ticket) HTTP/1.1\r\nHost: 127.0.0.1:\(ports.proxy)\r\nPrefer: wait=1\r\nConnection: close\r\n\r\n")
        let response = try PlainResponse(connection.receiveAll())
        let view = try? ShownTicket(response.body)
        ledger.change(id) { fate in
            if response.status != 200 { fate.otherStatuses.append(response.status) }
            // Asked with a wait, it says an end only once that is on disk.
            if let view, view.isFinal, fate.firstEnd == nil { fate.firstEnd = view }
        }
    }
}
