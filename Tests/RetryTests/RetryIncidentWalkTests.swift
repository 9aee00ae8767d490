import LayoverTestSupport
import Retry
import Testing

/// Random facts in any order, against the promises of the incident.
struct RetryIncidentWalkTests {
    private struct Walk {
        var incident: RetryIncident
        var waiting: Set<RetryIncident.MemberID> = []
        var running: [RetryIncident.MemberID: RetryIncident.CallMark] = [:]
        var isShown = false
        var countdown: RetryIncident.CountdownID?
        var automaticCount = 0

        /// Performs the actions on a model of the outside world, and finds what cannot be.
        mutating func perform(_ actions: [RetryIncident.Action], isAutomatic: Bool = false) {
            for action in actions {
                switch action {
                case .show:
                    #expect(!isShown)
                    isShown = true
                case .hide:
                    #expect(isShown)
                    (isShown, automaticCount) = (false, 0)
                case .startCountdown(let id, _):
                    #expect(countdown == nil)
                    countdown = id
                case .stopCountdown:
                    #expect(countdown != nil)
                    countdown = nil
                case .runAgain(let members):
                    if isAutomatic { automaticCount += 1 }
                    for member in members {
                        #expect(waiting.remove(member) != nil, "only who waits runs again")
                        running[member] = incident.now
                    }
                case .fail(let members):
                    for member in members { #expect(waiting.remove(member) != nil) }
                }
            }
            #expect(isShown == incident.isVisible)
            #expect(waiting.count == incident.waitingCount)
            #expect((countdown != nil) == incident.isCountingDown)
            #expect(countdown == nil || !waiting.isEmpty, "no countdown for nobody")
            #expect(isShown || waiting.isEmpty, "who waits is shown")
            #expect(automaticCount <= 3)
        }

        mutating func step(_ generator: inout SeededGenerator) {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...1:
                running[incident.makeMemberID()] = incident.now
            case 2...4:
                guard
                    let (member, mark) = running.sorted(by: { $0.key < $1.key }).randomElement(
                        using: &generator)
                else { return }
                running[member] = nil
                waiting.insert(member)
                perform(incident.operationFailed(member, since: mark))
            case 5:
                guard let member = running.keys.sorted().randomElement(using: &generator) else { return }
                running[member] = nil
                perform(incident.operationEnded(member))
            case 6:
                guard let member = waiting.sorted().randomElement(using: &generator) else { return }
                waiting.remove(member)
                perform(incident.operationEnded(member))
            case 7:
                perform(incident.retryRequested())
            case 8:
                guard let ended = countdown else { return perform(incident.wokenUp(), isAutomatic: true) }
                countdown = nil
                perform(incident.countdownEnded(ended), isAutomatic: true)
            default:
                if Bool.random(using: &generator) { perform(incident.cancelRequested()) }
            }
        }
    }

    @Test(arguments: 1...200)
    func noOperationIsForgotten(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var walk = Walk(incident: RetryIncident(countdown: .seconds(3), automaticRetryCountMax: 3))
        for _ in 1...300 { walk.step(&generator) }
        // However it went, a Retry reaches everybody who waits, and when all end the message goes.
        walk.perform(walk.incident.retryRequested())
        #expect(walk.waiting.isEmpty)
        for member in walk.running.keys { walk.perform(walk.incident.operationEnded(member)) }
        #expect(!walk.isShown)
    }
}
