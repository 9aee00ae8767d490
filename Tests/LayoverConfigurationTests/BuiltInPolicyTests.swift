import LayoverCore
import Retry
import Testing

@testable import LayoverConfiguration

/// The policies that are there without a file, and what a file can do to them.
@Suite struct BuiltInPolicyTests {
    @Test(arguments: Policy.builtIns)
    func eachHasTheSameValuesInTheFileAndInTheCore(policy: Policy) {
        #expect(PolicySettings(policy).policy(named: policy.name) == policy)
    }

    @Test(arguments: Policy.builtIns)
    func eachExistsWithoutAFileAndARouteMayNameIt(policy: Policy) throws {
        #expect(try load("{}").settings.routes.policies[policy.name] == policy)
        let loaded = try load(#"{"routes": {"r": {"policy": "\#(policy.name)"}}}"#)
        #expect(loaded.settings.routes.route(named: "r")?.policy == policy)
    }

    @Test(arguments: Policy.builtIns)
    func missingKeysComeFromTheBuiltInPolicy(policy: Policy) throws {
        let text = #"{"policies": {"default": {"lifetime": "9h"}, "\#(policy.name)": {"holdMax": "7s"}}}"#
        guard policy.name != "default" else { return }
        var expected = policy
        expected.holdMax = .seconds(7)
        #expect(try load(text).settings.routes.policies[policy.name] == expected)
    }

    @Test func theOutboxAcceptsNowAndDeliversInOrderForAWeek() throws {
        let outbox = try #require(try load("{}").settings.routes.policies["outbox"])
        #expect(outbox.mode == .defer)
        #expect(outbox.lifetime == .seconds(7 * 24 * 3600))
        #expect(outbox.lane == .origin)
        #expect(outbox.undecidedInLane == .block)
        #expect(
            outbox.delay
                == DelaySchedule(
                    .exponential(initial: .seconds(1), multiplier: 2, max: .seconds(300)), jitter: .full))
        #expect(outbox.maybeAppliedRule(isTicket: true) == .ask)
    }

    @Test func aFileChangesTheOutboxAndTakesItsLaneAway() throws {
        let outbox = try load(#"{"policies": {"outbox": {"lane": null, "lifetime": "30d"}}}"#)
            .settings.routes.policies["outbox"]
        #expect(outbox?.mode == .defer)
        #expect(outbox?.lane == nil)
        #expect(outbox?.lifetime == .seconds(30 * 24 * 3600))
    }

    @Test func aVariableChangesABuiltInPolicy() throws {
        let loaded = try load(
            "{}",
            environment: ["LAYOVER_POLICIES_ASK_DELAY_EVERY": "5s", "LAYOVER_POLICIES_AI_PRIORITY": "0"])
        #expect(loaded.warnings == [])
        #expect(loaded.settings.routes.policies["ask"]?.delay == DelaySchedule(.constant(.seconds(5))))
        #expect(loaded.settings.routes.policies["ai"]?.priority == 0)
        #expect(
            loaded.sources["policies.ask.delay.every"] == .environment("LAYOVER_POLICIES_ASK_DELAY_EVERY"))
    }

    @Test func anotherDelayReplacesThatOfABuiltInPolicy() throws {
        let loaded = try load(#"{"policies": {"ask": {"delay": {"type": "exponential"}}}}"#)
        let ask = loaded.settings.routes.policies["ask"]
        #expect(ask?.delay == Policy.standard.delay)
        #expect(ask?.onExhausted == .ask)
    }
}
