import LayoverCore
import Retry
import Testing

@testable import LayoverConfiguration

@Suite struct PolicyTests {
    private func policies(_ text: String) throws -> [String: Policy] {
        try load(#"{"policies": \#(text)}"#).settings.routes.policies
    }

    @Test func theBuiltInPolicyOfTheFileIsTheOneOfTheCore() {
        #expect(PolicySettings().policy(named: "default") == .standard)
    }

    @Test func everyKeyReachesThePolicy() throws {
        let policy = try policies(
            """
            {"a": {"mode": "pass", "holdMax": "1s", "lifetime": "2s", "retryOn": ["tls-handshake", "dns_error"],
              "delay": {"type": "immediate"}, "automaticAttemptsMax": 5, "wakeOnReachable": false,
              "repeatable": true, "priority": 7, "retryAfterMax": "5m", "onExhausted": "ask",
              "onMaybeApplied": "ask", "budget": {"ratio": 0.5, "minimum": 0}, "clientGone": "adopt", "async": "never",
              "timeouts": {"unattended": "9s"},
              "cache": "staleIfError", "lane": "field:Account", "undecidedInLane": "skip", "coalesce": "lastPut",
              "preflight": {"method": "GET", "dropOn": ["410"], "askOn": ["404", "500"]}}}
            """)["a"]
        var expected = Policy(name: "a")
        expected.mode = .pass
        expected.holdMax = .seconds(1)
        expected.lifetime = .seconds(2)
        expected.retryOn = [.tlsHandshake, .errorType(.dnsError)]
        expected.delay = DelaySchedule(.immediate)
        expected.automaticAttemptsMax = 5
        expected.wakeOnReachable = false
        expected.repeatable = true
        expected.priority = 7
        expected.retryAfterMax = .seconds(300)
        expected.onExhausted = .ask
        expected.onMaybeApplied = .ask
        expected.budget = .init(ratio: 0.5, minimum: 0)
        expected.clientGone = .adopt
        expected.unattendedMax = .seconds(9)
        expected.async = .never
        expected.cache = .staleIfError
        expected.lane = .field("Account")
        expected.undecidedInLane = .skip
        expected.coalesce = .lastPut
        expected.preflight = .init()
        expected.preflight?.method = "GET"
        expected.preflight?.dropOn = [410]
        expected.preflight?.askOn = [404, 500]
        #expect(policy == expected)
    }

    @Test func unattendedTimeIsTheGeneralOneUnlessAPolicySaysOtherwise() throws {
        let settings = try load(
            #"{"timeouts": {"unattended": "10s"}, "policies": {"a": {}, "b": {"timeouts": {"unattended": "0s"}}}}"#
        ).settings
        let made = settings.routes.policies
        #expect(["default", "a", "b", "ai"].map { made[$0]?.unattendedMax } == [.seconds(10), .seconds(10), .zero, .zero])
        #expect(try policies(#"{"ai": {"timeouts": {"unattended": "1m"}}}"#)["ai"]?.unattendedMax == .seconds(60))
    }

    @Test func missingKeysOfAPolicyComeFromTheEffectiveDefault() throws {
        let made = try policies(
            #"{"a": {"priority": 1}, "default": {"holdMax": "1m", "priority": 5, "automaticAttemptsMax": 9}}"#
        )
        #expect(made["a"]?.holdMax == .seconds(60))
        #expect(made["a"]?.automaticAttemptsMax == 9)
        #expect(made["a"]?.priority == 1)
        #expect(made["default"]?.priority == 5)
    }

    @Test func nullRemovesAnInheritedLimitBudgetAndRule() throws {
        let made = try policies(
            """
            {"default": {"automaticAttemptsMax": 9, "onMaybeApplied": "ask"},
             "a": {"automaticAttemptsMax": null, "budget": null, "onMaybeApplied": null}}
            """)
        #expect(made["a"]?.automaticAttemptsMax == nil)
        #expect(made["a"]?.budget == nil)
        #expect(made["a"]?.onMaybeApplied == nil)
        #expect(made["default"]?.budget == Policy.Budget())
    }

    @Test(arguments: [
        (#"["503"]"#, [RetryCondition.status(503)]),
        (
            #"["connectivity", "200", "401", "599"]"#,
            [.connectivity, .status(200), .status(401), .status(599)]
        ),
        (#"["dns", "connection_refused"]"#, [.dns, .errorType(.connectionRefused)]),
        ("[]", []),
    ])
    func conditionsAreWordsErrorTypesAndStatuses(list: String, expected: [RetryCondition]) throws {
        #expect(try policies(#"{"a": {"retryOn": \#(list)}}"#)["a"]?.retryOn == expected)
    }

    @Test(arguments: [
        (#"{"ratio": 1}"#, Policy.Budget(ratio: 1, minimum: 3)),
        (#"{"minimum": 10}"#, Policy.Budget(ratio: 0.2, minimum: 10)),
        (#"{"ratio": 0, "minimum": 0}"#, Policy.Budget(ratio: 0, minimum: 0)),
        (#"{"ratio": 1000, "minimum": 1000000}"#, Policy.Budget(ratio: 1000, minimum: 1_000_000)),
        ("{}", Policy.Budget()),
    ])
    func missingKeysOfABudgetHaveDefaults(budget: String, expected: Policy.Budget) throws {
        #expect(try policies(#"{"default": {"budget": \#(budget)}}"#)["default"]?.budget == expected)
    }

    @Test func retryAfterMaxOfZeroDeliversEveryResponseWithRetryAfter() throws {
        #expect(try policies(#"{"a": {"retryAfterMax": "0s"}}"#)["a"]?.retryAfterMax == .zero)
    }

    /// The missing limit is not an error, since another layer may set it.
    @Test func aRuleForExhaustionWithoutALimitIsWarnedOf() throws {
        let text = """
            {"policies": {"a": {"onExhausted": "ask"}, "b": {"onExhausted": "fail"},
              "c": {"onExhausted": {}, "automaticAttemptsMax": 1}, "ask": {"onExhausted": "ask"}}}
            """
        #expect(
            try load(text).warnings == [
                "policies.a.onExhausted: has no effect, because automaticAttemptsMax is null."
            ])
    }

    @Test(arguments: [
        (#"{"type": "immediate"}"#, DelaySchedule(.immediate)),
        (#"{"type": "constant", "every": "3s"}"#, DelaySchedule(.constant(.seconds(3)))),
        (
            #"{"type": "constant", "every": "3s", "jitter": "equal"}"#,
            DelaySchedule(.constant(.seconds(3)), jitter: .equal)
        ),
        (#"{"type": "schedule", "delays": ["0s", "5s"]}"#, DelaySchedule(.list([.zero, .seconds(5)]))),
        (
            #"{"type": "exponential"}"#,
            DelaySchedule(.exponential(initial: .seconds(1), multiplier: 2, max: .seconds(30)), jitter: .full)
        ),
        (
            #"{"max": "5m", "multiplier": 1.5}"#,
            DelaySchedule(
                .exponential(initial: .seconds(1), multiplier: 1.5, max: .seconds(300)), jitter: .full)
        ),
    ])
    func delaysInheritUnlessTheirTypeIsAnother(delay: String, expected: DelaySchedule) throws {
        let made = try policies(#"{"default": {"delay": {"initial": "1s"}}, "a": {"delay": \#(delay)}}"#)
        #expect(made["a"]?.delay == expected)
    }

    @Test func otherDelayTypeDropsInheritedKeys() throws {
        let made = try policies(
            """
            {"default": {"delay": {"type": "constant", "every": "9s", "jitter": "equal"}},
             "a": {}, "b": {"delay": {"type": "exponential"}}, "c": {"delay": {"every": "1s"}}}
            """)
        #expect(made["a"]?.delay == DelaySchedule(.constant(.seconds(9)), jitter: .equal))
        #expect(made["b"]?.delay == Policy.standard.delay)
        #expect(made["c"]?.delay == DelaySchedule(.constant(.seconds(1)), jitter: .equal))
    }
}
