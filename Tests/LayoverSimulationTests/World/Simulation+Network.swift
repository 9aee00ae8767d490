import LayoverCore
import LayoverTestSupport

@testable import LayoverEngine

extension Simulation {
    /// The outcome of an attempt.
    func fate(of truth: RequestTruth, using generator: inout SeededGenerator) -> Fate {
        let isLocal = truth.origin.isLoopback
        var fate: Fate
        if isRecovering {
            fate = .answers(.init())
        } else if network.isDown, !isLocal {
            let hangs = Bool.random(using: &generator)
            fate =
                hangs
                ? .neverConnects(.connectionTimeout, .connecting, after: .seconds(10), isNameUnknown: false)
                : .neverConnects(
                    .dnsError, .resolving, after: .milliseconds(20),
                    isNameUnknown: Bool.random(using: &generator))
        } else if network.hasPortal, truth.origin.scheme == .http, !isLocal {
            fate = .answers(.init(status: 302))
        } else {
            fate = (moods[truth.origin] ?? .up).fate(using: &generator)
        }
        if truth.isDownload, !isRecovering, case .answers(let reply) = fate { fate = .answers(fateOfDownload(reply, using: &generator)) }
        // A descriptor for a tunnel is nothing that can be played: such an attempt ends for good instead.
        if truth.isConnect, case .answers = fate {
            fate = .neverConnects(
                .tlsCertificateError, .connecting, after: .milliseconds(50), isNameUnknown: false)
        }
        return fate
    }

    func changeMood() {
        guard let origin = origins.randomElement(using: &generator) else { return }
        let mood = chance(40) ? OriginMood.up : OriginMood.allCases.randomElement(using: &generator) ?? .up
        moods[origin] = mood
        noteStart(of: origin)
        trace { "\(origin) is \(mood.rawValue)" }
    }

    func changeNetwork() {
        switch Int.random(in: 0..<10, using: &generator) {
        case ..<3:
            network.isDown.toggle()
            tellLinks()
            if chance(30) {
                network.isDown.toggle()
                tellLinks()
            }
        case 3:
            network.place += 1
            tellLinks()
        case 4:
            network.hasPortal.toggle()
            network.place += 1
            trace { "portal: \(self.network.hasPortal)" }
            tellLinks()
        case 5: post(.resolverChanged)
        case 6: post(.hinted)
        case 7:
            time.suspend(for: .seconds(Int.random(in: 1...400, using: &generator)))
            post(.resumed)
        case 8:
            let mode = ReachabilityMode.allCases.randomElement(using: &generator) ?? .auto
            setMode(chance(50) ? .auto : mode)
        default:
            // A probe result without a request for it.
            if engine.assumeIsolated({ $0.network.reachability.probeInterval != nil }) {
                post(.probed(network.probe))
            }
        }
    }

    func tellLinks() {
        trace { "network \(self.network.isDown ? "is down" : "is up at \(self.network.place)")" }
        post(.links(network.snapshot))
    }

    private func post(_ fact: ReachabilityFact) {
        if case .links = fact {} else { trace { "fact: \(fact)" } }
        engine.post(fact)
    }

    func setMode(_ mode: ReachabilityMode) {
        trace { "mode \(mode)" }
        _ = engine.assumeIsolated { $0.setMode(mode, reason: nil) }
        referee.checkEngine()
    }

    /// Makes the probe that the engine wants: there is nobody else in a simulation to make it.
    func answerProbe() {
        guard engine.assumeIsolated({ $0.network.takeDueProbe() }) else { return }
        probeCount += 1
        let number = probeCount
        later(.milliseconds(Int.random(in: 1...200, using: &generator) * 10)) { [unowned self] in
            // A probe that a newer one replaced reports nothing.
            if number == self.probeCount { self.post(.probed(self.network.probe)) }
        }
    }
}
