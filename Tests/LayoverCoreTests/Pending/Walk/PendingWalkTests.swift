import Testing

@testable import LayoverCore

/// The promises of the pending set, kept through random lives. See `Seeds` for how to run one again.
struct PendingWalkTests {
    @Test(arguments: Seeds.row(100))
    func randomFactsEndWithEveryEntryDelivered(seed: UInt64) {
        var walk = PendingWalk(seed: seed)
        walk.run(stepCount: 400)
        walk.recover()
    }

    @Test(arguments: Seeds.row(40))
    func randomFactsEndWithEveryEntryDrained(seed: UInt64) {
        var walk = PendingWalk(seed: seed)
        walk.run(stepCount: 200)
        walk.drain()
    }

    /// Short lives, many of them: what goes wrong soon goes wrong in every order of few facts.
    @Test func shortRandomWalksKeepTheInvariants() {
        for seed in Seeds.row(2000) {
            var walk = PendingWalk(seed: seed &+ 7_000_000_000)
            walk.run(stepCount: 30)
            if seed.isMultiple(of: 2) { walk.recover() } else { walk.drain() }
        }
    }
}
