import Testing

@testable import LayoverCore

/// Tickets from their admission on.
struct AcceptanceTests {
    private var bench = PendingBench()

    @Test mutating func acceptedTicketStartsAtOnceWithoutAHeldClient() {
        let (id, actions) = bench.accept()
        #expect(actions == [.start(id, .arrival), .watched()] || actions == [.watched(), .start(id, .arrival)])
        #expect(bench.set.heldCount == 0 && bench.set.record(of: id)?.state == .attempting)
    }

    @Test mutating func placeIsReservedForATicketThatIsBeingStored() {
        bench = PendingBench { $0.entryCountMax = 2 }
        let full = TicketAdmission.refused(limit: "limits.entries", value: 2)
        #expect(bench.set.admitTicket() == .admitted(sequence: 1))
        #expect(bench.set.admitTicket() == .admitted(sequence: 2))
        #expect(bench.set.admitTicket() == full)
        let id = EntryID(using: &bench.generator)
        let refused = NewEntry(
            id: id, method: "GET", url: "", origin: PendingBench.origin, client: .init(address: ""),
            createdAt: bench.now, parking: .init(delay: .zero, shutsGate: false))
        #expect(
            bench.handle(ParkRequested(refused))
                == [.refuse(id, limit: "limits.entries", value: 2)], "the room is promised")
        bench.set.admissionDecided()
        #expect(bench.set.admitTicket() == .admitted(sequence: 3))
    }

    @Test mutating func refreshOfTheCacheTakesNoPlaceOfAHeldClient() {
        bench = PendingBench { $0.heldClientCountMax = 1 }
        let counts = [true, true, false, true, false].map { isRefresh in
            let id = EntryID(using: &bench.generator)
            var new = NewEntry(
                id: id, method: "GET", url: "", origin: PendingBench.origin, client: .init(address: ""), createdAt: bench.now,
                failure: .refused, parking: .init(delay: .seconds(1), shutsGate: true))
            new.isRefresh = isRefresh
            _ = bench.handle(ParkRequested(new))
            return [bench.set.count, bench.set.heldCount]
        }
        // Where all places are taken only a client is refused.
        #expect(counts == [[1, 0], [2, 0], [3, 1], [4, 1], [4, 1]])
    }

    @Test mutating func whileDrainingNothingIsAdmittedAndNothingStarted() {
        guard case .admitted(let one) = bench.set.admitTicket(), case .admitted(let two) = bench.set.admitTicket()
        else { return }
        let canary = bench.accepted()
        _ = bench.fail(canary, .refused, delay: .seconds(50))
        _ = bench.drain()
        #expect(bench.set.admitTicket() == .draining)
        for (sequence, origin) in [(one, PendingBench.origin), (two, PendingBench.other)] {
            // The ticket was being stored: its client gets a 202, and the ticket is sent after the next start.
            let id = EntryID(using: &bench.generator)
            let new = PendingBench.Wish(origin: origin).entry(id, now: bench.now)
            let actions = bench.handle(NewTicketStored(new, sequence: sequence))
            #expect(actions.started == [] && bench.state(id) == .waiting)
        }
        #expect(bench.wait(.seconds(100)).started == [])
    }

    @Test mutating func ticketAcceptedTwiceIsOneEntry() {
        let id = bench.accepted()
        guard case .admitted(let sequence) = bench.set.admitTicket() else { return }
        let new = PendingBench.Wish().entry(id, now: bench.now)
        #expect(bench.set.handle(NewTicketStored(new, sequence: sequence), now: bench.now, using: &bench.generator) == [])
        #expect(bench.set.admission.acceptingCount == 0 && bench.set.count == 1)
    }

    @Test mutating func ticketExpiresAfterItsLifetimeNotAfterHoldMax() {
        let policy = Policy.fixture {
            $0.holdMax = .seconds(10)
            $0.lifetime = .seconds(100)
        }
        let id = bench.accepted { $0.policy = policy }
        _ = bench.fail(id, .reset, delay: .seconds(1000))
        #expect(bench.wait(.seconds(99)).ended == [])
        #expect(bench.wait(.seconds(1)).contains(.end(id, .expired)))
    }

    @Test mutating func drainingLeavesTicketsAsTheyAre() {
        let (under, waiting) = (bench.accepted(), bench.held())
        let ticket = bench.lane(2)[1]
        #expect(bench.drain().ended == [waiting])
        #expect(bench.states([under, ticket]) == [.attempting, .waiting])
        #expect(bench.fail(under, .reset).ended == [])
        #expect(bench.state(under) == .waiting)
    }

    @Test mutating func ticketWithARetriedStatusKeepsWaitingWhileDraining() {
        let ticket = bench.accepted()
        _ = bench.drain()
        #expect(bench.status(ticket) == [.dropResponse(ticket)])
        #expect(bench.state(ticket) == .waiting, "it is asked for again after the next start")
    }

    @Test mutating func freshTicketIsTheCanaryOfAShutGate() {
        let first = bench.accepted()
        _ = bench.fail(first, .refused, delay: .seconds(50))
        let (second, actions) = bench.accept()
        #expect(actions.contains(.start(second, .canary)))
        let (third, more) = bench.accept()
        #expect(more.started == [] && bench.entry(third)?.incident != nil)
    }

    @Test mutating func rejectedTicketLeavesTheWindowAndBecomesUndecided() {
        bench = PendingBench(perOriginAttemptCountMax: 1)
        let ids = [bench.accepted(), bench.accepted()]
        #expect(bench.refuse(ids[0]).started == [ids[1]])
        #expect(bench.why(ids[0]) == .rejected)
        #expect(bench.refuse(ids[0]) == [], "it was said before")
    }

    @Test mutating func rejectedFrontBlocksItsLane() {
        let ids = bench.lane(2)
        #expect(bench.refuse(ids[0]).started == [])
        #expect(bench.command(.cancel, ids[0]).1.started == [ids[1]])
    }
}
