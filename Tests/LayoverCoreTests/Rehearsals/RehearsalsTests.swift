import Testing

@testable import LayoverCore

/// Which rehearsals there are, which an attempt meets, and what it meets.
struct RehearsalsTests {
    private var rehearsals = Rehearsals()
    private static let start = Timestamp(nanoseconds: 1_000_000_000)

    private static func order(
        _ host: String, _ fault: RehearsalFault = .refuse, bytes: Int? = nil, status: Int? = nil, for length: Duration? = nil
    ) throws -> RehearsalOrder {
        try RehearsalOrder(
            host: #require(RehearsedHost(host)), fault: fault, byteCount: bytes, status: status, length: length)
    }

    // MARK: Hosts

    @Test(arguments: [
        ("api.example.com", "http://api.example.com", true), ("API.Example.com", "https://api.example.com:8443", true),
        ("api.example.com.", "http://api.example.com", true), ("api.example.com", "http://api.example.com.", true),
        ("example.com", "http://api.example.com", false), ("api.example.com", "http://example.com", false),
        ("api.example.com:80", "http://api.example.com", true), ("api.example.com:443", "https://api.example.com", true),
        ("api.example.com:443", "http://api.example.com", false), ("192.0.2.1", "http://192.0.2.1:8080", true),
        ("[2001:DB8::1]", "http://2001:db8::1", true), ("[2001:db8::1]:81", "http://2001:db8::1", false),
        ("api.example.com", "api.example.com:443", true), ("localhost", "http://127.0.0.1", false),
    ])
    func hostIsForItsOriginsOnly(host: String, url: String, isMatch: Bool) throws {
        let secure = url.hasPrefix("https://")
        let scheme: Origin.Scheme = secure ? .https : url.hasPrefix("http://") ? .http : .tunnel
        let rest = url.replacing("https://", with: "").replacing("http://", with: "")
        let parts = rest.split(separator: ":")
        let origin =
            parts.count == 2
            ? Origin(scheme: scheme, host: String(parts[0]), port: Int(parts[1])) : Origin(scheme: scheme, host: rest)
        #expect(try #require(RehearsedHost(host)).matches(origin) == isMatch)
    }

    @Test(arguments: [
        "", ".", "a..b", "http://a.example", "a.example/x", "*.example.com", "a b", "a.example:", "a.example:0", "a.example:080",
        "a.example:65536", "a.example:x", "::1", "[::1", "[]", "[a]", "[::1]80", "münchen.example", "a\u{0}", "a:1:2", "user@a",
        String(repeating: "a", count: 261),
    ])
    func invalidHostIsRefused(text: String) { #expect(RehearsedHost(text) == nil) }

    @Test(arguments: ["a.example", "a.example:65535", "[::1]:8080", "[::ffff:192.0.2.1]", "under_score.example"])
    func hostIsShownAsItIsWritten(text: String) { #expect(RehearsedHost(text)?.description == text) }

    // MARK: Orders

    @Test func defaultsBelongToTheFault() throws {
        #expect(try Self.order("a", .cut).byteCount == 0)
        #expect(try Self.order("a", .slow).byteCount == 1024)
        #expect(try Self.order("a", .status).status == 503)
        for fault in [RehearsalFault.refuse, .hang, .portal] {
            let order = try Self.order("a", fault)
            #expect(order.byteCount == nil && order.status == nil && order.length == .seconds(600))
        }
    }

    @Test(arguments: RehearsalFault.allCases)
    func optionOfAnotherFaultIsRefused(fault: RehearsalFault) throws {
        if fault != .cut, fault != .slow {
            #expect(throws: RehearsalRefusal.byteCountWithout(fault)) { try Self.order("a", fault, bytes: 1) }
        }
        if fault != .status { #expect(throws: RehearsalRefusal.statusWithout(fault)) { try Self.order("a", fault, status: 503) } }
        for length in [Duration.zero, .seconds(-1), .seconds(86_401)] {
            #expect(throws: RehearsalRefusal.length) { try Self.order("a", fault, for: length) }
        }
        _ = try Self.order("a", fault, for: .seconds(86_400))
    }

    @Test func numbersHaveTheirRanges() throws {
        #expect(throws: RehearsalRefusal.byteCount(min: 0)) { try Self.order("a", .cut, bytes: -1) }
        #expect(throws: RehearsalRefusal.byteCount(min: 1)) { try Self.order("a", .slow, bytes: 0) }
        #expect(throws: RehearsalRefusal.byteCount(min: 0)) { try Self.order("a", .cut, bytes: RehearsalOrder.byteCountMax + 1) }
        for status in [100, 101, 199, 600, -1] { #expect(throws: RehearsalRefusal.status) { try Self.order("a", .status, status: status) } }
        for status in [200, 302, 599] { #expect(try Self.order("a", .status, status: status).status == status) }
    }

    // MARK: Which there are

    @Test mutating func rehearsalIsOverInTime() throws {
        let short = try rehearsals.begin(Self.order("a", for: .seconds(1)), now: Self.start)
        let long = try rehearsals.begin(Self.order("b", for: .seconds(5)), now: Self.start)
        #expect(rehearsals.nextEndAt == Self.start + .seconds(1))
        #expect(rehearsals.advance(to: Self.start + .milliseconds(999)).isEmpty)
        #expect(rehearsals.advance(to: Self.start + .seconds(1)) == [short])
        #expect(rehearsals.current == [long] && rehearsals.nextEndAt == Self.start + .seconds(5))
        #expect(rehearsals.advance(to: Self.start + .seconds(9)) == [long])
        #expect(rehearsals.nextEndAt == nil)
    }

    @Test mutating func rehearsalIsStoppedOnceAndNumbersAreNotUsedAgain() throws {
        let first = try rehearsals.begin(Self.order("a", for: .seconds(1)), now: Self.start)
        #expect(rehearsals.stop(first.number, now: Self.start) == first)
        #expect(rehearsals.stop(first.number, now: Self.start) == nil)
        #expect(try rehearsals.begin(Self.order("a", for: .seconds(1)), now: Self.start).number == 2)
        #expect(rehearsals.stop(2, now: Self.start + .seconds(1)) == nil, "it is over")
    }

    @Test mutating func thereAreAHundredAtMost() throws {
        for _ in 0..<100 { _ = try rehearsals.begin(Self.order("a", for: .seconds(1)), now: Self.start) }
        #expect(throws: RehearsalRefusal.tooMany) { try rehearsals.begin(Self.order("b"), now: Self.start) }
        // Rehearsals that are over do not count, reported or not.
        _ = try rehearsals.begin(Self.order("b"), now: Self.start + .seconds(1))
    }

    @Test mutating func portGoesBeforeHostAndNewestBeforeOlder() throws {
        let origin = Origin(scheme: .http, host: "a.example", port: 8080)
        func applying(after seconds: Int) -> Int? {
            Rehearsals.applying(of: rehearsals.current, to: origin, now: Self.start + .seconds(seconds))?.number
        }
        #expect(applying(after: 0) == nil)
        _ = try rehearsals.begin(Self.order("a.example", .status, for: .seconds(9)), now: Self.start)
        _ = try rehearsals.begin(Self.order("a.example", .hang, for: .seconds(7)), now: Self.start)
        _ = try rehearsals.begin(Self.order("a.example:8080", .refuse, for: .seconds(5)), now: Self.start)
        _ = try rehearsals.begin(Self.order("a.example", .slow, for: .seconds(3)), now: Self.start)
        _ = try rehearsals.begin(Self.order("b.example", .slow), now: Self.start)
        #expect([0, 3, 5, 7, 9].map(applying) == [3, 3, 2, 1, nil])
        #expect(Rehearsals.applying(of: rehearsals.current, to: Origin(scheme: .http, host: "c.example"), now: Self.start) == nil)
    }

    // MARK: What an attempt meets

    private static func play(
        _ fault: RehearsalFault, _ purpose: RequestPurpose, _ scheme: Origin.Scheme, bytes: Int? = nil, status: Int? = nil
    ) throws -> RehearsalPlay {
        var rehearsals = Rehearsals()
        return try rehearsals.begin(order("a.example", fault, bytes: bytes, status: status), now: start)
            .play(purpose, to: Origin(scheme: scheme, host: "a.example"))
    }

    /// The words for what the rules will see.
    private static func words(_ play: RehearsalPlay) -> String {
        switch play {
        case .fail(let failure): "\(failure.phase) \(failure.kind.rawValue) \(failure.evidence)"
        case .hang: "hang"
        case .answer(let response): "status \(response.status)"
        case .cut(let count): "cut \(count)"
        case .slow(let rate): "slow \(rate)"
        case .none: "none"
        }
    }

    static let rows: [(RehearsalFault, RequestPurpose, Origin.Scheme, String)] = [
        (.refuse, .transfer, .http, "connecting connection_refused neverSent"),
        (.refuse, .transfer, .https, "connecting connection_refused neverSent"),
        (.refuse, .dial, .tunnel, "connecting connection_refused neverSent"),
        (.refuse, .upgrade, .http, "connecting connection_refused neverSent"),
        (.hang, .transfer, .https, "hang"), (.hang, .dial, .tunnel, "hang"), (.hang, .upgrade, .http, "hang"),
        (.cut, .transfer, .http, "cut 0"), (.cut, .dial, .tunnel, "none"), (.cut, .upgrade, .http, "none"),
        (.status, .transfer, .https, "status 503"), (.status, .dial, .tunnel, "none"), (.status, .upgrade, .http, "none"),
        (.slow, .transfer, .http, "slow 1024"), (.slow, .dial, .tunnel, "none"), (.slow, .upgrade, .http, "none"),
        (.portal, .transfer, .http, "status 302"), (.portal, .transfer, .https, "securing tls_certificate_error neverSent"),
        (.portal, .dial, .tunnel, "connecting connection_terminated neverSent"),
        (.portal, .upgrade, .http, "connecting connection_terminated neverSent"),
    ]

    @Test(arguments: rows)
    func faultIsPlayedWhereItCanBe(fault: RehearsalFault, purpose: RequestPurpose, scheme: Origin.Scheme, expected: String) throws {
        #expect(Self.words(try Self.play(fault, purpose, scheme)) == expected)
    }

    /// The gate of an origin is shut as in a real outage, and every report names the rehearsal.
    @Test mutating func rehearsedFailuresAreJudgedAsRealOnesAndNameTheRehearsal() throws {
        let rehearsal = try rehearsals.begin(Self.order("a.example"), now: Self.start)
        guard case .fail(let refused) = rehearsal.play(.transfer, to: Origin(scheme: .http, host: "a.example")) else {
            Issue.record("nothing failed")
            return
        }
        #expect(refused.shutsGate && refused.message == "Rehearsal 1: the connection was refused.")
        #expect(refused.curlCode == nil && refused.osError == nil, "nobody has seen one")
        let late = rehearsal.connectTimeout(.milliseconds(1500))
        #expect(late.shutsGate && late.evidence == .neverSent && late.message == "Rehearsal 1: nothing answered within 1.5 s.")
        let cut = rehearsal.cutOff(isAnswered: false)
        #expect(!cut.shutsGate && cut.evidence == .maybeApplied && !cut.isStaleConnection)
        #expect(RetryCondition.connectivity.matches(cut))
        #expect(rehearsal.cutOff(isAnswered: true).evidence == .answered)
    }

    @Test func madeResponseSaysThatItIsMade() throws {
        guard case .answer(let response) = try Self.play(.status, .transfer, .http, status: 500) else {
            Issue.record("no response")
            return
        }
        #expect(response.status == 500 && response.body.contains("rehearsal 1"))
        #expect(response.fields.contains { $0 == ("Cache-Control", "no-store") })
        #expect(response.fields.contains { $0.name == "Proxy-Status" && $0.value.contains("proxy_internal_response") })
        #expect(ConnectionFacts.made.isMade)
        var real = ConnectionFacts(localAddress: nil, remoteAddress: "192.0.2.1", reusedConnection: false, bytesSent: 9)
        real.becomeRehearsed()
        #expect(!real.isMade && real.remoteAddress == "192.0.2.1 (rehearsal)")
        #expect(Failure.answered(503, isMade: true).message == "A rehearsal answered with status 503. Nothing was sent.")
    }

    // MARK: Trickling

    @Test func trickleGivesItsRateAndNoMore() {
        var trickle = Trickle(bytesPerSecond: 10, startedAt: Self.start)
        #expect(trickle.allowance(at: Self.start) == 0)
        #expect(trickle.allowance(at: Self.start + .milliseconds(99)) == 0)
        #expect(trickle.allowance(at: Self.start + .milliseconds(250)) == 2)
        trickle.passed(2)
        #expect(trickle.allowance(at: Self.start + .milliseconds(250)) == 0)
        #expect(trickle.allowance(at: Self.start + .seconds(1)) == 8)
        #expect(trickle.allowance(at: Self.start + .seconds(-1)) == 0)
        let fast = Trickle(bytesPerSecond: RehearsalOrder.byteCountMax, startedAt: Timestamp(nanoseconds: 0))
        #expect(fast.allowance(at: .distantFuture) > 0)
    }
}
