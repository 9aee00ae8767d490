import LayoverCore
import LayoverEngine

/// How a parent proxy is doing.
enum ParentProxyMood: String, CaseIterable {
    case up, refusing, hanging, denying
}

/// Parent proxies: some of the worlds have them, and configurations that name one, another, or none.
///
/// Their randomness is their own: a world without them tells the same story as before there were any.
extension Simulation {
    static let parentProxies = [
        ParentProxy(scheme: .http, host: "proxy.example", port: 3128),
        ParentProxy(scheme: .http, host: "127.0.0.1", port: 3129, user: "me", password: "secret"),
    ]

    func randomParentProxyRules() -> ParentProxyRules {
        var rules = ParentProxyRules()
        guard hasParentProxies else { return rules }
        let (one, other) = (Self.parentProxies[0], Self.parentProxies[1])
        rules.general = [nil, one, one, other].randomElement(using: &parentProxyGenerator) ?? nil
        if Bool.random(using: &parentProxyGenerator) { rules.exceptions = [.domain("b.example")] }
        return rules
    }

    func changeParentProxyMood() {
        guard hasParentProxies, Bool.random(using: &parentProxyGenerator),
            let parentProxy = Self.parentProxies.randomElement(using: &parentProxyGenerator)
        else { return }
        let isUp = Int.random(in: 0..<10, using: &parentProxyGenerator) < 4
        let mood = isUp ? .up : ParentProxyMood.allCases.randomElement(using: &parentProxyGenerator) ?? .up
        parentProxyMoods[parentProxy.gate] = mood
        noteStart(of: parentProxy.gate)
        trace { "\(parentProxy) is \(mood.rawValue)" }
    }

    /// The outcome of an attempt at its parent proxy; nil if it passes the parent proxy, or has none.
    func fate(at parentProxy: ParentProxy?, of truth: RequestTruth) -> Fate? {
        guard let parentProxy, !isRecovering else { return nil }
        if network.isDown, !parentProxy.gate.isLoopback {
            return .neverConnects(.dnsError, .resolving, after: .milliseconds(20), isNameUnknown: false)
        }
        return switch parentProxyMoods[parentProxy.gate] ?? .up {
        case .up: nil
        case .refusing: .neverConnects(.connectionRefused, .connecting, after: .milliseconds(10), isNameUnknown: false)
        case .hanging: .neverConnects(.connectionTimeout, .connecting, after: .seconds(10), isNameUnknown: false)
        case .denying: truth.origin.scheme == .http ? .answers(.init(status: 403)) : .isDenied(after: .milliseconds(15))
        }
    }

    /// What an attempt that came past its parent proxy meets there, where its origin does not connect: the proxy says so.
    func fateBehindParentProxy(_ fate: Fate, of truth: RequestTruth) -> Fate {
        guard case .neverConnects(let kind, let phase, let wait, _) = fate, phase != .securing, kind != .tlsCertificateError else {
            return fate
        }
        if truth.origin.scheme == .http { return .answers(.init(status: 503, after: min(wait, .seconds(5)))) }
        return .isRefused(after: wait)
    }
}
