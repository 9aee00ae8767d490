import LayoverCore
import LayoverEngine

/// How a parent proxy is doing.
enum ParentMood: String, CaseIterable {
    case up, refusing, hanging, denying
}

/// Parent proxies: some of the worlds have them, and configurations that name one, another, or none.
///
/// Their randomness is their own: a world without them tells the same story as before there were any.
extension Simulation {
    static let parents = [
        ParentProxy(scheme: .http, host: "proxy.example", port: 3128),
        ParentProxy(scheme: .http, host: "127.0.0.1", port: 3129, user: "me", password: "secret"),
    ]

    func randomParents() -> ParentRules {
        var rules = ParentRules()
        guard hasParents else { return rules }
        rules.general = [nil, Self.parents[0], Self.parents[0], Self.parents[1]].randomElement(using: &parentage) ?? nil
        if Bool.random(using: &parentage) { rules.exceptions = [.domain("b.example")] }
        return rules
    }

    func changeParentMood() {
        guard hasParents, Bool.random(using: &parentage), let parent = Self.parents.randomElement(using: &parentage) else { return }
        let mood = Int.random(in: 0..<10, using: &parentage) < 4 ? .up : ParentMood.allCases.randomElement(using: &parentage) ?? .up
        parentMoods[parent.hop] = mood
        noteStart(of: parent.hop)
        trace { "\(parent) is \(mood.rawValue)" }
    }

    /// What becomes of an attempt at its parent proxy; nil: it comes past it, or has none.
    func fate(at parent: ParentProxy?, of truth: RequestTruth) -> Fate? {
        guard let parent, !isRecovering else { return nil }
        if network.isDown, !parent.hop.isLoopback {
            return .neverConnects(.dnsError, .resolving, after: .milliseconds(20), isNameUnknown: false)
        }
        return switch parentMoods[parent.hop] ?? .up {
        case .up: nil
        case .refusing: .neverConnects(.connectionRefused, .connecting, after: .milliseconds(10), isNameUnknown: false)
        case .hanging: .neverConnects(.connectionTimeout, .connecting, after: .seconds(10), isNameUnknown: false)
        case .denying: truth.origin.scheme == .http ? .answers(.init(status: 403)) : .isDenied(after: .milliseconds(15))
        }
    }

    /// What an attempt that came past its parent proxy meets there, where its origin does not connect: the proxy says so.
    func fateBehindParent(_ fate: Fate, of truth: RequestTruth) -> Fate {
        guard case .neverConnects(let kind, let phase, let wait, _) = fate, phase != .securing, kind != .tlsCertificateError else { return fate }
        if truth.origin.scheme == .http { return .answers(.init(status: 503, after: min(wait, .seconds(5)))) }
        return .isRefused(after: wait)
    }
}
