import LayoverTestSupport
import Testing

@testable import LayoverCore

/// One `Idempotency-Key`, several requests: which one goes, and what the others get.
struct KeyReservationTests {
    private typealias Claim = KeyReservations.Claim

    private static let key: [UInt8] = [1]
    private static let same: [UInt8] = [10]
    private static let other: [UInt8] = [11]
    private let first = Claim(number: 1)
    private let second = Claim(number: 2)
    private let third = Claim(number: 3)
    private var keys = Self.reserved()

    /// The first of all has reserved the key and goes.
    private static func reserved(payload: [UInt8]? = Self.same, joinedCountMax: Int = 10) -> KeyReservations {
        var keys = KeyReservations(joinedCountMax: joinedCountMax)
        let first = Claim(number: 1)
        #expect(keys.asked(first, key: Self.key, payload: payload, search: .none) == [.go(first)])
        return keys
    }

    @Test mutating func storeIsSearchedBeforeTheFirstRequestOfAKeyIsSent() {
        keys = KeyReservations()
        #expect(keys.asked(first, key: Self.key, payload: nil, search: .needed) == [.look(first, Self.key)])
        #expect(keys.asked(second, key: Self.key, payload: nil, search: .needed) == [.join(second)])
        #expect(keys.looked(first, found: nil) == [.go(first)])
        #expect(keys.looked(first, found: nil) == [], "told twice")
    }

    /// None is refused while the store is searched: the key may belong to a ticket with the payload of the second one.
    @Test(arguments: [(other, same), (nil, other)] as [([UInt8]?, [UInt8])])
    mutating func storedTicketIsTheOutcomeOfAllRequestsWithItsKey(payload: [UInt8]?, next: [UInt8]) {
        keys = KeyReservations()
        _ = keys.asked(first, key: Self.key, payload: payload, search: .needed)
        #expect(keys.asked(second, key: Self.key, payload: next, search: .needed) == [.join(second)])
        #expect(keys.looked(first, found: Self.same) == [.share(first, Self.same), .share(second, Self.same)])
        #expect(keys.count == 0)
        #expect(keys.joinedCount == 0)
    }

    @Test mutating func anEqualRequestJoinsAndGetsTheOutcome() {
        #expect(keys.asked(second, key: Self.key, payload: Self.same, search: .needed) == [.join(second)])
        #expect(keys.ended(first, hasOutcome: true) == [.share(second, Self.same)])
        #expect(keys.count == 0)
        #expect(keys.asked(third, key: Self.key, payload: Self.same, search: .none) == [.go(third)], "the key is free")
    }

    @Test mutating func requestWithAnotherPayloadIsRefusedOnceBothAreKnown() {
        #expect(keys.asked(second, key: Self.key, payload: Self.other, search: .needed) == [.refuse(second)])
        #expect(keys.asked(third, key: Self.key, payload: nil, search: .needed) == [.join(third)])
        #expect(keys.completed(third, payload: Self.other) == [.refuse(third)])
        #expect(keys.joinedCount == 0)

        var late = Self.reserved(payload: nil)
        #expect(late.asked(second, key: Self.key, payload: Self.other, search: .needed) == [.join(second)])
        #expect(late.asked(third, key: Self.key, payload: Self.same, search: .needed) == [.join(third)])
        #expect(late.completed(first, payload: Self.same) == [.refuse(second)])
        #expect(late.ended(first, hasOutcome: true) == [.share(third, Self.same)])
    }

    @Test mutating func aRequestWhoseBodyIsArrivingGetsTheOutcomeWithItsPayload() {
        #expect(keys.asked(second, key: Self.key, payload: nil, search: .needed) == [.join(second)])
        #expect(keys.ended(first, hasOutcome: true) == [.share(second, Self.same)])
        #expect(keys.completed(second, payload: Self.other) == [], "it compares by itself")
    }

    @Test mutating func oldestRequestIsSentWhenTheFirstHasNoOutcome() {
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .none)
        _ = keys.asked(third, key: Self.key, payload: Self.same, search: .none)
        #expect(keys.ended(first, hasOutcome: false) == [.go(second)])
        #expect(keys.ended(second, hasOutcome: true) == [.share(third, Self.same)])
    }

    @Test mutating func outcomeWithoutAPayloadIsNotShared() {
        keys = Self.reserved(payload: nil)
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .none)
        #expect(keys.ended(first, hasOutcome: true) == [.go(second)])
    }

    @Test mutating func nextRequestSearchesTheStoreIfItWasNotSearched() {
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .needed)
        _ = keys.asked(third, key: Self.key, payload: Self.same, search: .needed)
        #expect(keys.ended(first, hasOutcome: false) == [.look(second, Self.key)])
        #expect(keys.ended(second, hasOutcome: false) == [.look(third, Self.key)], "it left while the store was asked")
        #expect(keys.looked(second, found: nil) == [], "the answer to one that is gone")
        #expect(keys.looked(third, found: nil) == [.go(third)])
    }

    @Test mutating func firstRequestIsOfferedATicketOnceWhenOthersAreDue() {
        _ = keys.asked(second, key: Self.key, payload: nil, search: .needed)
        _ = keys.asked(third, key: Self.key, payload: Self.same, search: .needed)
        #expect(keys.waitEnded(second) == [], "nobody knows whether it is equal")
        #expect(keys.completed(second, payload: Self.same) == [.offerTicket(first)])
        #expect(keys.waitEnded(third) == [])
        #expect(keys.ended(first, hasOutcome: false) == [.look(second, Self.key)])
        #expect(keys.looked(second, found: nil) == [.go(second), .offerTicket(second)], "the third is still due")
    }

    @Test mutating func requestOfALeavingClientIsForgotten() {
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .needed)
        #expect(keys.ended(second, hasOutcome: true) == [], "nobody waits for what it came to")
        #expect(keys.joinedCount == 0)
        #expect(keys.ended(first, hasOutcome: true) == [])
        #expect(keys.ended(first, hasOutcome: true) == [], "told twice")
        #expect(keys.count == 0)
    }

    @Test mutating func requestAboveTheLimitOfWaitingOnesIsRefused() {
        keys = Self.reserved(joinedCountMax: 1)
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .needed)
        #expect(keys.asked(third, key: Self.key, payload: Self.same, search: .needed) == [.refuseByLimit(third, value: 1)])
        _ = keys.ended(second, hasOutcome: false)
        #expect(keys.asked(third, key: Self.key, payload: Self.same, search: .needed) == [.join(third)])
    }

    // MARK: The store cannot be searched

    private func unknown() -> KeyReservations {
        var keys = KeyReservations()
        _ = keys.asked(first, key: Self.key, payload: Self.same, search: .needed)
        #expect(keys.lookFailed(first) == [.waitForStore(first), .lookAgain(first, Self.key)])
        return keys
    }

    @Test mutating func failedSearchIsRepeatedAndSendsNothing() {
        keys = unknown()
        #expect(keys.lookFailed(first) == [.lookAgain(first, Self.key)], "told once")
        #expect(keys.asked(second, key: Self.key, payload: Self.other, search: .needed) == [.join(second), .waitForStore(second)])
        #expect(keys.looked(first, found: nil) == [.go(first), .join(second), .refuse(second)])
    }

    @Test mutating func ticketFoundAfterAFailedSearchIsTheOutcome() {
        keys = unknown()
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .needed)
        #expect(keys.looked(first, found: Self.same) == [.share(first, Self.same), .share(second, Self.same)])
        #expect(keys.count == 0)
    }

    @Test mutating func requestIsRefusedWhenItsTimeIsOverAndTheNextOneSearches() {
        keys = unknown()
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .needed)
        _ = keys.asked(third, key: Self.key, payload: Self.same, search: .needed)
        #expect(keys.waitEnded(third) == [.refuseUnknown(third)])
        #expect(keys.waitEnded(first) == [.refuseUnknown(first), .look(second, Self.key)])
        #expect(keys.lookFailed(first) == [], "the result for a claim that is over")
        #expect(keys.lookFailed(second) == [.lookAgain(second, Self.key)])
        #expect(keys.waitEnded(second) == [.refuseUnknown(second)])
        #expect(keys.count == 0)
        #expect(keys.joinedCount == 0)
    }

    @Test mutating func requestsThatAreDueAreRefusedByTheFirstFailedSearch() {
        keys = KeyReservations()
        _ = keys.asked(first, key: Self.key, payload: Self.same, search: .needed)
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .needed)
        #expect(keys.waitEnded(second) == [])
        #expect(
            keys.lookFailed(first)
                == [.waitForStore(first), .waitForStore(second), .refuseUnknown(second), .lookAgain(first, Self.key)])
    }

    /// The insertion compares the key, and happens before the request is sent.
    @Test mutating func requestThatIsInsertedFirstGoesOn() {
        keys = KeyReservations()
        _ = keys.asked(first, key: Self.key, payload: Self.same, search: .repeatedByInsertion)
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .needed)
        #expect(keys.lookFailed(first) == [.go(first)])
        #expect(keys.ended(first, hasOutcome: false) == [.look(second, Self.key)], "it is still unknown whether there is a ticket")
    }

    // MARK: The client of the one that goes is gone

    @Test mutating func responseWithoutAReaderIsNotRead() {
        #expect(keys.clientLeft(first) == [.unshared(first)])
        #expect(keys.ended(first, hasOutcome: false) == [])
    }

    @Test mutating func responseIsReadForThoseThatJoinedUntilTheLastOneLeaves() {
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .none)
        _ = keys.asked(third, key: Self.key, payload: Self.same, search: .none)
        #expect(keys.clientLeft(second) == [], "it does not go")
        #expect(keys.clientLeft(first) == [.shared(first)])
        #expect(keys.ended(second, hasOutcome: false) == [])
        #expect(keys.ended(third, hasOutcome: false) == [.unshared(first)])
    }

    @Test mutating func joinedRequestWithAnotherPayloadDoesNotCount() {
        _ = keys.asked(second, key: Self.key, payload: nil, search: .none)
        #expect(keys.clientLeft(first) == [.shared(first)])
        #expect(keys.completed(second, payload: Self.other) == [.refuse(second), .unshared(first)])
    }

    @Test mutating func outcomeIsAwaitedUntilTheLastOneLeaves() {
        #expect(keys.isAwaited(first) == false)
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .none)
        #expect(keys.isAwaited(second) == false, "it does not go")
        #expect(keys.isAwaited(first) == true)
        #expect(keys.ended(second, hasOutcome: false) == [.unshared(first)])
        #expect(keys.isAwaited(first) == false)
    }

    @Test mutating func nextRequestOfAKeyDoesNotInheritTheLeftClient() {
        _ = keys.asked(second, key: Self.key, payload: Self.same, search: .none)
        _ = keys.clientLeft(first)
        #expect(keys.ended(first, hasOutcome: false) == [.go(second)])
        _ = keys.asked(third, key: Self.key, payload: Self.same, search: .none)
        #expect(keys.ended(third, hasOutcome: false) == [])
    }

    @Test mutating func requestWithAnotherKeyIsSentAtOnce() {
        #expect(keys.asked(second, key: [2], payload: Self.other, search: .none) == [.go(second)])
        #expect(keys.ended(first, hasOutcome: true) == [])
        #expect(keys.count == 1)
    }

    /// In every sequence at most one request of a key is under way, and none waits for a request that is over.
    @Test(arguments: 1...200)
    func oneRequestOfAKeyIsSentAtATime(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var keys = KeyReservations(joinedCountMax: 4)
        var under: [[UInt8]: Claim] = [:]
        var (known, waiting): ([Claim: [UInt8]], Set<Claim>) = ([:], [])
        func check(_ actions: [KeyReservations.Action]) {
            for action in actions {
                switch action {
                case .look(let claim, _), .go(let claim):
                    guard let key = known[claim] else { return #expect(Bool(false), "seed \(seed): \(claim) is over") }
                    #expect(under[key] == nil || under[key] == claim, "seed \(seed): two of one key")
                    under[key] = claim
                    waiting.remove(claim)
                case .join(let claim): waiting.insert(claim)
                case .waitForStore(let claim): #expect(known[claim] != nil, "seed \(seed)")
                case .lookAgain(let claim, _): #expect(under.values.contains(claim), "seed \(seed)")
                case .offerTicket(let claim), .shared(let claim), .unshared(let claim):
                    #expect(under.values.contains(claim), "seed \(seed)")
                case .refuse(let claim), .refuseUnknown(let claim), .refuseByLimit(let claim, _), .share(let claim, _):
                    if let key = known.removeValue(forKey: claim), under[key] == claim { under[key] = nil }
                    waiting.remove(claim)
                }
            }
        }
        func payload() -> [UInt8]? { [nil, Self.same, Self.same, Self.other].randomElement(using: &generator) ?? nil }
        for number in 1...120 {
            switch Int.random(in: 0..<10, using: &generator) {
            case ..<4:
                let claim = Claim(number: number)
                let key: [UInt8] = [UInt8.random(in: 0...1, using: &generator)]
                known[claim] = key
                check(keys.asked(claim, key: key, payload: payload(), search: Bool.random(using: &generator) ? .needed : .none))
            case ..<5:
                if let claim = under.values.min(by: { $0.number < $1.number }) {
                    let isFound = Int.random(in: 0..<3, using: &generator) > 0
                    check(isFound ? keys.looked(claim, found: payload()) : keys.lookFailed(claim))
                }
            case ..<6:
                if let claim = under.values.min(by: { $0.number < $1.number }) { check(keys.clientLeft(claim)) }
            case ..<8:
                if let claim = known.keys.sorted(by: { $0.number < $1.number }).randomElement(using: &generator) {
                    check(keys.completed(claim, payload: payload() ?? Self.same))
                    if known[claim] != nil { check(keys.waitEnded(claim)) }
                }
            default:
                if let claim = known.keys.sorted(by: { $0.number < $1.number }).randomElement(using: &generator) {
                    if let key = known.removeValue(forKey: claim), under[key] == claim { under[key] = nil }
                    waiting.remove(claim)
                    check(keys.ended(claim, hasOutcome: Bool.random(using: &generator)))
                }
            }
            #expect(keys.joinedCount == waiting.count, "seed \(seed)")
            #expect(keys.count == under.count, "seed \(seed)")
        }
    }
}
