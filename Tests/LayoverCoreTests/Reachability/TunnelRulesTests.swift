import Testing

@testable import LayoverCore

/// Which open tunnels are frozen or reset.
struct TunnelRulesTests {
    private static let now = Timestamp(nanoseconds: 1_000_000_000)
    private static let origin = Origin(scheme: .tunnel, host: "o.test", port: 443)
    private static let other = Origin(scheme: .tunnel, host: "other.test", port: 443)
    private var rules = TunnelRules()

    private static func rehearsal(_ number: Int, _ fault: RehearsalFault, _ host: String = "o.test") throws -> Rehearsal {
        let order = try RehearsalOrder(host: #require(RehearsedHost(host)), fault: fault)
        return Rehearsal(number: number, order: order, startedAt: now, endsAt: now + .seconds(600))
    }

    private func treatments(_ rules: TunnelRules, on occasion: TunnelRules.Occasion, now: Timestamp = now) -> [TunnelRules.Treatment] {
        [Self.origin, Self.other].map { rules.treatment(of: $0, on: occasion, now: now) }
    }

    @Test(arguments: [(OfflineTunnels.freeze, TunnelRules.Treatment.freeze), (.cut, .reset), (.keep, .relay)])
    mutating func modeOfflineReachesAllTunnels(tunnels: OfflineTunnels, expected: TunnelRules.Treatment) {
        #expect(treatments(rules, on: .opened) == [.relay, .relay])
        let occasion = rules.modeSet(tunnels)
        #expect(treatments(rules, on: occasion) == [expected, expected])
        // A tunnel that is opened later is not reset.
        #expect(treatments(rules, on: .opened) == Array(repeating: expected == .freeze ? .freeze : .relay, count: 2))
        let end = rules.modeSet(nil)
        #expect(treatments(rules, on: end) == [.relay, .relay])
    }

    @Test(arguments: [
        (RehearsalFault.refuse, TunnelRules.Treatment.reset), (.cut, .reset), (.portal, .reset), (.hang, .freeze), (.status, .relay),
        (.slow, .relay),
    ])
    mutating func rehearsalReachesTheTunnelsOfItsHost(fault: RehearsalFault, expected: TunnelRules.Treatment) throws {
        let occasion = rules.rehearsed([try Self.rehearsal(1, fault)])
        #expect(treatments(rules, on: occasion) == [expected, .relay])
        let end = rules.rehearsed([])
        #expect(treatments(rules, on: end) == [.relay, .relay])
    }

    @Test mutating func tunnelIsResetOnlyWhenTheRehearsalBegins() throws {
        let cut = try Self.rehearsal(1, .cut)
        _ = rules.rehearsed([cut])
        // The tunnel was opened after that, and another rehearsal begins.
        let occasion = rules.rehearsed([cut, try Self.rehearsal(2, .hang, "other.test")])
        #expect(treatments(rules, on: occasion) == [.relay, .freeze])
        let mode = rules.modeSet(.keep)
        #expect(treatments(rules, on: mode) == [.relay, .freeze])
    }

    @Test mutating func tunnelStaysFrozenUntilModeAndRehearsalAreOver() throws {
        let hang = try Self.rehearsal(1, .hang)
        _ = rules.modeSet(.freeze)
        var occasion = rules.rehearsed([hang])
        #expect(treatments(rules, on: occasion) == [.freeze, .freeze])
        occasion = rules.modeSet(nil)
        #expect(treatments(rules, on: occasion) == [.freeze, .relay])
        occasion = rules.modeSet(.freeze)
        occasion = rules.rehearsed([])
        #expect(treatments(rules, on: occasion) == [.freeze, .freeze])
        occasion = rules.modeSet(nil)
        #expect(treatments(rules, on: occasion) == [.relay, .relay])
    }

    @Test mutating func rehearsalThatIsOverFreezesNothing() throws {
        let occasion = rules.rehearsed([try Self.rehearsal(1, .hang)])
        #expect(treatments(rules, on: occasion, now: Self.now + .seconds(600)) == [.relay, .relay])
    }

    @Test mutating func newestRehearsalOfAHostDecides() throws {
        _ = rules.rehearsed([try Self.rehearsal(1, .refuse)])
        let occasion = rules.rehearsed([try Self.rehearsal(1, .refuse), try Self.rehearsal(2, .hang)])
        #expect(treatments(rules, on: occasion) == [.freeze, .relay])
    }
}
