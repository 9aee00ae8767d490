import Testing

@testable import LayoverCore

struct NotificationQueueTests {
    private var queue = NotificationQueue(interval: .seconds(60))
    private var now = Timestamp(nanoseconds: 0)

    private struct Fixed: RandomNumberGenerator {
        var number: UInt64

        mutating func next() -> UInt64 { number }
    }

    private static func incident(
        _ number: UInt64 = 1, _ kind: Incident.Kind = .outage, scope: Incident.Scope = .network, waiting: Int = 1, isManual: Bool = false
    ) -> Incident {
        var generator = Fixed(number: number)
        return Incident(
            id: IncidentID(using: &generator), kind: kind, scope: scope, since: Timestamp(nanoseconds: 0), cause: nil, waiting: waiting,
            automaticLeft: nil, nextAttemptAt: nil, manualOnly: isManual)
    }

    private mutating func note(_ change: IncidentEventKind, _ incident: Incident = incident()) {
        queue.note(change, of: incident, now: now)
    }

    /// The events that are notified after this time.
    private mutating func told(after duration: Duration) -> [NotificationEvent.Kind] {
        now = now + duration
        guard let notification = queue.take(now: now) else { return [] }
        return ([notification.first] + notification.more).map(\.kind)
    }

    @Test mutating func outageIsToldWhenItOpensAndWhenItCloses() {
        note(.opened)
        #expect(queue.dueAt == now + .seconds(1))
        #expect(told(after: .milliseconds(999)) == [])
        #expect(told(after: .milliseconds(1)) == [.opened])
        note(.updated)
        #expect(queue.dueAt == nil, "more requests of the same outage are no news")
        note(.closed)
        #expect(told(after: .seconds(59)) == [], "the interval is not over")
        #expect(told(after: .seconds(1)) == [.closed])
        #expect(told(after: .seconds(100)) == [])
    }

    @Test mutating func outageThatIsOverBeforeItsNotificationIsNotNotified() {
        note(.opened)
        note(.closed)
        #expect(queue.dueAt == nil)
    }

    @Test mutating func outagesOfOneMomentAreToldTogetherAndTheMostUrgentFirst() {
        note(.opened, Self.incident(1))
        note(.opened, Self.incident(2))
        queue.noteLimit("limits.entries", value: 7, now: now)
        note(.opened, Self.incident(3, .decision))
        #expect(told(after: .seconds(1)) == [.needsDecision, .limitReached, .opened, .opened])
    }

    @Test mutating func decisionIsToldOnceForEachTimeThatNothingGoesOnByItself() {
        note(.opened)
        #expect(told(after: .seconds(1)) == [.opened])
        note(.updated, Self.incident(isManual: true))
        note(.updated, Self.incident(isManual: true))
        #expect(told(after: .seconds(60)) == [.needsDecision])
        note(.updated, Self.incident(isManual: true))
        #expect(queue.dueAt == nil)
        note(.updated)
        note(.updated, Self.incident(isManual: true))
        #expect(told(after: .seconds(60)) == [.needsDecision])
        note(.updated)
        note(.updated, Self.incident(isManual: true))
        note(.closed)
        #expect(told(after: .seconds(60)) == [.closed], "it is no question any more")
    }

    @Test mutating func emptyIncidentNeedsNoDecision() {
        note(.updated, Self.incident(waiting: 0, isManual: true))
        #expect(queue.dueAt == nil)
    }

    @Test mutating func limitIsToldOnceWithItsNewestValue() {
        queue.noteLimit("limits.entries", value: 7, now: now)
        queue.noteLimit("limits.entries", value: 8, now: now)
        now = now + .seconds(1)
        #expect(queue.take(now: now)?.first.subject == .limit(name: "limits.entries", value: 8))
    }

    @Test mutating func outageOfTheReceiverIsNotToldToIt() {
        let origin = Origin(scheme: .https, host: "hooks.example")
        queue.excludedOrigin = origin
        note(.opened, Self.incident(scope: .origin(origin)))
        #expect(queue.dueAt == nil)
        note(.opened, Self.incident(2, scope: .origin(Origin(scheme: .http, host: "hooks.example"))))
        #expect(told(after: .seconds(1)) == [.opened])
    }

    @Test mutating func tooManyEventsAreCounted() {
        for number in UInt64(1)...150 { note(.opened, Self.incident(number)) }
        now = now + .seconds(1)
        let notification = queue.take(now: now)
        #expect(notification?.more.count == NotificationQueue.eventCountMax - 1)
        #expect(notification?.omittedCount == 50)
        for number in UInt64(1)...150 { note(.closed, Self.incident(number)) }
        #expect(told(after: .seconds(60)).count == NotificationQueue.eventCountMax, "the end is told of those that were left out too")
    }
}
