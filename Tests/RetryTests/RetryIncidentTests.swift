import Retry
import Testing

struct RetryIncidentTests {
    typealias Incident = RetryIncident
    typealias MemberID = Incident.MemberID
    private struct NoCountdown: Error {}

    /// An incident of 3 s, with so many members that wait, and the countdown that runs.
    private static func open(
        _ count: Int, automaticRetryCountMax: Int? = 3
    ) throws -> (Incident, [MemberID], Incident.CountdownID) {
        var incident = Incident(countdown: .seconds(3), automaticRetryCountMax: automaticRetryCountMax)
        let members = (1...count).map { _ in incident.makeMemberID() }
        let actions = members.flatMap { incident.operationFailed($0, since: incident.now) }
        return (incident, members, try countdown(in: actions))
    }

    /// The countdown that begins with the actions.
    private static func countdown(in actions: [Incident.Action]) throws -> Incident.CountdownID {
        for case .startCountdown(let id, .seconds(3)) in actions { return id }
        throw NoCountdown()
    }

    @Test func theFirstFailureShowsTheMessageAndTheOthersJoin() {
        var incident = Incident()
        #expect(!incident.isVisible)
        let (first, second) = (incident.makeMemberID(), incident.makeMemberID())
        #expect(first < second)
        #expect(incident.operationFailed(first, since: incident.now) == [.show])
        #expect(incident.operationFailed(second, since: incident.now) == [])
        #expect(incident.isVisible)
        #expect(incident.waitingCount == 2)
        #expect(!incident.isCountingDown)
    }

    @Test func retryRunsAllAgainInTheOrderOfTheirFailures() throws {
        var (incident, members, _) = try Self.open(20)
        #expect(incident.retryRequested() == [.stopCountdown, .runAgain(members)])
        #expect(incident.waitingCount == 0)
        #expect(incident.isVisible, "the message does not flicker while they run")
        #expect(incident.retryRequested() == [])
    }

    @Test func messageDisappearsWithTheLastMember() throws {
        var (incident, members, _) = try Self.open(2)
        _ = incident.retryRequested()
        #expect(incident.operationEnded(members[1]) == [])
        #expect(incident.operationEnded(members[0]) == [.hide])
        #expect(incident.operationEnded(members[0]) == [])
        #expect(!incident.isVisible)
    }

    @Test func countdownStopsWhenTheLastWaitingOperationLeaves() throws {
        var (incident, members, _) = try Self.open(2)
        #expect(incident.operationEnded(members[0]) == [])
        #expect(incident.isCountingDown)
        #expect(incident.operationEnded(members[1]) == [.stopCountdown, .hide])
    }

    @Test func countdownStopsWhenNoOperationWaits() throws {
        var (incident, members, _) = try Self.open(1)
        _ = incident.retryRequested()
        let late = incident.makeMemberID()
        _ = try Self.countdown(in: incident.operationFailed(late, since: incident.now))
        #expect(incident.operationEnded(late) == [.stopCountdown])
        #expect(incident.operationEnded(members[0]) == [.hide])
    }

    @Test func cancelFailsAllThatWait() throws {
        var (incident, members, _) = try Self.open(3)
        #expect(incident.cancelRequested() == [.stopCountdown, .hide, .fail(members)])
        #expect(!incident.isVisible)
        #expect(incident.cancelRequested() == [])
    }

    @Test func operationRunningDuringACancelMaySucceedButDoesNotWaitAgain() throws {
        var (incident, members, _) = try Self.open(2)
        _ = incident.retryRequested()
        #expect(incident.cancelRequested() == [.hide])
        #expect(incident.operationEnded(members[0]) == [])
        #expect(incident.operationFailed(members[1], since: incident.now) == [.fail([members[1]])])
        #expect(!incident.isVisible)
        // Only that one attempt was meant: afterwards it would be a member like any other.
        #expect(incident.operationFailed(members[1], since: incident.now).first == .show)
    }

    @Test func countdownRunsThreeTimesAndThenOnlyAPersonCounts() throws {
        var (incident, members, countdown) = try Self.open(1)
        for round in 1...3 {
            #expect(incident.automaticRetryCountLeft == 4 - round)
            #expect(incident.countdownEnded(countdown) == [.runAgain(members)])
            let actions = incident.operationFailed(members[0], since: incident.now)
            if round < 3 {
                countdown = try Self.countdown(in: actions)
            } else {
                #expect(actions == [])
            }
        }
        #expect(incident.isManualOnly)
        #expect(!incident.isCountingDown)
        #expect(incident.wokenUp() == [])
        #expect(incident.retryRequested() == [.runAgain(members)])
        #expect(incident.operationFailed(members[0], since: incident.now) == [], "a Retry refills nothing")
        #expect(incident.operationEnded(members[0]) == [.hide])
        #expect(incident.automaticRetryCountLeft == 3, "the next trouble starts anew")
    }

    @Test func theEndOfAStoppedCountdownChangesNothing() throws {
        var (incident, members, stale) = try Self.open(1)
        _ = incident.retryRequested()
        let fresh = try Self.countdown(in: incident.operationFailed(members[0], since: incident.now))
        #expect(incident.countdownEnded(stale) == [])
        #expect(incident.automaticRetryCount == 0)
        #expect(incident.countdownEnded(fresh) == [.runAgain(members)])
        #expect(incident.countdownEnded(fresh) == [])
        #expect(incident.automaticRetryCount == 1)
    }

    @Test func aWakeUpRunsAllAgainAndCountsAsAutomatic() throws {
        var (incident, members, _) = try Self.open(2, automaticRetryCountMax: 1)
        #expect(incident.wokenUp() == [.stopCountdown, .runAgain(members)])
        #expect(incident.automaticRetryCountLeft == 0)
        #expect(incident.operationFailed(members[0], since: incident.now) == [])
        #expect(incident.wokenUp() == [])
    }

    @Test func aWakeUpWithoutTroubleCostsNothing() {
        var incident = Incident(automaticRetryCountMax: 1)
        #expect(incident.wokenUp() == [])
        #expect(incident.automaticRetryCountLeft == 1)
    }

    @Test(arguments: [true, false])
    func aCallDuringAnAttemptIsNotMissed(isPerson: Bool) {
        var incident = Incident(countdown: .seconds(3))
        let member = incident.makeMemberID()
        let before = incident.now
        _ = isPerson ? incident.retryRequested() : incident.wokenUp()
        #expect(incident.operationFailed(member, since: before) == [.show, .runAgain([member])])
        #expect(incident.operationFailed(member, since: incident.now).count == 1, "once, not for ever")
        #expect(incident.waitingCount == 1)
    }

    @Test func withoutALimitTheCountdownRunsForEver() throws {
        var (incident, members, countdown) = try Self.open(1, automaticRetryCountMax: nil)
        for _ in 1...1000 {
            #expect(incident.countdownEnded(countdown) == [.runAgain(members)])
            countdown = try Self.countdown(in: incident.operationFailed(members[0], since: incident.now))
        }
        #expect(incident.automaticRetryCount == 1000)
        #expect(incident.automaticRetryCountLeft == nil)
    }

    @Test(arguments: [0, -1])
    func noAutomaticRetriesMeansManualFromTheStart(count: Int) {
        var incident = Incident(countdown: .seconds(3), automaticRetryCountMax: count)
        let member = incident.makeMemberID()
        #expect(incident.operationFailed(member, since: incident.now) == [.show])
        #expect(incident.isManualOnly)
    }
}
