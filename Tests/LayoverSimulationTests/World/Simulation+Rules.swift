import LayoverCore
import NIOCore
import Retry

@testable import LayoverEngine
@testable import LayoverProxy

extension Simulation {
    static let policyNames = [
        "ask", "sidecar", "standin", "decide", "vouched", "limited", "patient", "single",
        "adopting", "deferring", "skipping",
    ]

    private static let drafts: Policy = {
        var policy = Policy(name: "drafts")
        policy.coalesce = .lastPut
        return policy
    }()

    /// Routes and policies as a person might write them, different with each reload.
    func randomRoutes() -> RouteTable {
        var policies: [String: Policy] = [:]
        for name in ["default"] + Self.policyNames where name == "default" || chance(93) {
            policies[name] = randomPolicy(name)
        }
        policies["drafts"] = Self.drafts
        var routes: [Route] = []
        if chance(50) {
            var route = Route(name: "b", policy: randomPolicy("routed"))
            route.host = .exact("b.example")
            route.methods = chance(50) ? ["POST", "PUT"] : nil
            routes.append(route)
        }
        return RouteTable(policies: policies, routes: routes, parentProxies: randomParentProxyRules())
    }

    private func randomPolicy(_ name: String) -> Policy {
        var policy = Policy.builtIns.first { $0.name == name } ?? Policy(name: name)
        policy.holdMax = .seconds([20, 90, 600].randomElement(using: &generator) ?? 90)
        policy.lifetime = .seconds([86_400, 86_400, 86_400, 100].randomElement(using: &generator) ?? 86_400)
        policy.unattendedMax = .seconds([0, 5, 20, 300].randomElement(using: &generator) ?? 20)
        policy.priority = Int.random(in: 2...4, using: &generator)
        switch name {
        case "standin":
            policy.automaticAttemptsMax = Int.random(in: 1...3, using: &generator)
            policy.onExhausted = .standIn(StandInResponse(status: 299, body: "instead"))
            policy.retryOn = [.connectivity, .status(503), .status(429)]
        case "decide":
            policy.onMaybeApplied = .ask
        case "vouched":
            policy.repeatable = chance(70)
            policy.retryOn = [.connectivity, .status(503), .status(500)]
        case "limited":
            policy.retryOn = [.connectivity, .status(503), .status(429)]
            policy.delay = DelaySchedule(.constant(.seconds(2)))
            policy.budget = Policy.Budget(
                ratio: 0.1, minimum: Int.random(in: 0...2, using: &generator), whenSpent: chance(50) ? .wait : .deliver)
        case "patient":
            policy.wakeOnReachable = false
            policy.delay = DelaySchedule(.list([.seconds(1), .seconds(5), .seconds(15)]))
        case "single":
            policy.automaticAttemptsMax = 1
            policy.onExhausted = chance(50) ? .fail : .ask
        case "adopting":
            policy.clientGone = .adopt
            policy.retryOn = [.connectivity, .status(503)]
        case "deferring":
            policy.mode = .defer
            policy.retryOn = [.connectivity, .status(503), .status(429)]
        case "skipping":
            policy.undecidedInLane = .skip
            policy.onMaybeApplied = .ask
        case "routed":
            policy.onMaybeApplied = chance(60) ? .ask : nil
            policy.delay = DelaySchedule(chance(30) ? .immediate : .constant(.milliseconds(500)))
            policy.automaticAttemptsMax = 6
            policy.repeatable = chance(20)
        default: break
        }
        return policy
    }

    /// The configuration is read anew.
    func reload() { reload(to: randomRoutes()) }

    func reload(to routes: RouteTable) {
        trace { "reload" }
        tellEngine(routes)
        for lane in lanes {
            _ = lane.loop.adopt(configuration.reloadable)
            lane.embedded.run()
            referee.noteRules(of: lane)
        }
    }

    /// Several people have the configuration read anew at the same moment, as they do through the admin API.
    ///
    /// What is in flight arrives before, so that each loop knows either the old rules or the new ones.
    func reloadSeveralAtOnce() {
        settle()
        guard breaches.isEmpty else { return }
        let count = Int.random(in: 2...4, using: &generator)
        trace { "\(count) reloads at once" }
        self.count("parallel reloads")
        let (simulation, line) = (Unchecked(self), ReloadLine())
        reloadsUnderWay = count
        for _ in 0..<count {
            Task {
                await line.run { await simulation.value.takeNewRules() }
                simulation.value.reloadsUnderWay -= 1
            }
        }
        var turnsLeft = 10_000
        while reloadsUnderWay > 0, turnsLeft > 0 {
            turnsLeft -= 1
            if !jobs.isIdle, chance(70) {
                jobs.runOne(at: Int.random(in: 0..<jobs.count, using: &generator))
            } else {
                lanes.randomElement(using: &generator)?.embedded.run()
            }
        }
        if reloadsUnderWay > 0 { breach("everyReloadEnds", "\(reloadsUnderWay) of \(count) are under way") }
        referee.loopsFollowTheLastReload()
    }

    /// The steps of `Reloader` when its turn comes: it reads the rules and passes them to the engine, then to each loop in turn.
    private func takeNewRules() async {
        tellEngine(randomRoutes())
        let configuration = configuration
        for lane in lanes {
            try? await lane.loop.adopt(configuration.reloadable).get()
            referee.noteRules(of: lane)
        }
    }

    /// The engine finds the routes of all entries, and tells their exchanges.
    private func tellEngine(_ routes: RouteTable) {
        configuration.routes = engine.assumeIsolated { $0.adopt(routes) }
        referee.noteRulesOfEntries()
        referee.checkEngine(isReloaded: true)
    }
}
