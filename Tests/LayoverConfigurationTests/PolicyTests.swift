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
              "repeatable": true, "priority": 7}}
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
        #expect(policy == expected)
    }

    @Test func whatANewPolicyLeavesUnsaidComesFromTheEffectiveDefault() throws {
        let made = try policies(
            #"{"a": {"priority": 1}, "default": {"holdMax": "1m", "priority": 5, "automaticAttemptsMax": 9}}"#
        )
        #expect(made["a"]?.holdMax == .seconds(60))
        #expect(made["a"]?.automaticAttemptsMax == 9)
        #expect(made["a"]?.priority == 1)
        #expect(made["default"]?.priority == 5)
    }

    @Test func nullTakesAnInheritedLimitAway() throws {
        let made = try policies(
            #"{"a": {"automaticAttemptsMax": null}, "default": {"automaticAttemptsMax": 9}}"#)
        #expect(made["a"]?.automaticAttemptsMax == nil)
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

    @Test func anotherTypeForgetsWhatWasInherited() throws {
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
