/// The rules of one outage that many operations wait out together: when it is shown, when it counts down,
/// who runs again and who fails.
///
/// A state machine without a clock. Facts go in (``operationFailed(_:since:)``, ``countdownEnded(_:)``),
/// ``Action``s come out, and somebody else performs them: ``RetryCoordinator``, or a program with its own
/// ideas of tasks and time.
///
/// An operation becomes a *member* with its first failure, and is either *waiting* or *running again*. It
/// leaves by success, by an error that is not waited out, or because its own task was cancelled. The incident
/// is open and shown as long as it has members, so it does not flicker while they run again; when the
/// last one leaves it closes, and the next failure opens a new one with its automatic retries unspent.
///
/// Automatic retries, by countdown or by wake-up, are limited for each incident. When they are spent only
/// a person's Retry or Cancel counts. A person's Retry is never refused and costs nothing.
public struct RetryIncident: Sendable {
    /// A member, numbered in the order of first failures.
    public struct MemberID: Sendable, Hashable, Comparable {
        /// Unique within one coordinator, from 1.
        public let number: Int

        public static func < (lhs: Self, rhs: Self) -> Bool { lhs.number < rhs.number }
    }

    /// A point in the sequence of calls to retry. Take one before each attempt: when the attempt fails and a
    /// call came since, the operation runs again at once instead of missing the call.
    public struct CallMark: Sendable, Hashable {
        var callCount = 0
    }

    /// One countdown, so that a late end of an earlier one can be told apart.
    public struct CountdownID: Sendable, Hashable {
        let number: Int
    }

    /// An action to perform, in the order given.
    public enum Action: Sendable, Hashable {
        /// The message that there is trouble appears.
        case show
        /// The message disappears.
        case hide
        /// Report ``RetryIncident/countdownEnded(_:)`` when the time has passed.
        case startCountdown(CountdownID, Duration)
        /// The countdown that was started last no longer matters.
        case stopCountdown
        /// These operations make another attempt, oldest first.
        case runAgain([MemberID])
        /// These operations fail as cancelled, oldest first.
        case fail([MemberID])
    }

    private enum MemberState: Sendable {
        case waiting, runningAgain
    }

    /// How long the members wait before they run again by themselves. Nil: they never run again because of time.
    public let countdown: Duration?
    /// Most automatic retries in one incident. Nil: there is no limit.
    public let automaticRetryCountMax: Int?
    /// Automatic retries made in this incident.
    public private(set) var automaticRetryCount = 0
    /// Where the sequence of calls to retry stands.
    public private(set) var now = CallMark()

    private var members: [MemberID: MemberState] = [:]
    /// Operations that were running again when everything was cancelled. They are let finish, but do not
    /// wait again.
    private var condemned: Set<MemberID> = []
    private var runningCountdown: CountdownID?
    private var lastMemberNumber = 0
    private var lastCountdownNumber = 0

    /// Makes a closed incident.
    ///
    /// - Parameters:
    ///   - countdown: How long the members wait before they run again by themselves, counted from the first
    ///     failure that finds no countdown. Default: nil, never by time.
    ///   - automaticRetryCountMax: Most automatic retries in one incident, wake-ups included. Default: nil,
    ///     without end.
    public init(countdown: Duration? = nil, automaticRetryCountMax: Int? = nil) {
        self.countdown = countdown
        self.automaticRetryCountMax = automaticRetryCountMax
    }

    /// Whether the message that there is trouble is to be seen: whether there are members.
    public var isVisible: Bool { !members.isEmpty }

    /// Members that wait for a call.
    public var waitingCount: Int { members.values.count { $0 == .waiting } }

    /// Whether the members will run again by themselves when time has passed.
    public var isCountingDown: Bool { runningCountdown != nil }

    /// Automatic retries that this incident has left. Nil: there is no limit.
    public var automaticRetryCountLeft: Int? {
        automaticRetryCountMax.map { max(0, $0 - automaticRetryCount) }
    }

    /// Whether only a person can make the members run again.
    public var isManualOnly: Bool { automaticRetryCountLeft == 0 }
}

extension RetryIncident {
    /// A number for an operation that is about to report its first failure.
    public mutating func makeMemberID() -> MemberID {
        lastMemberNumber += 1
        return MemberID(number: lastMemberNumber)
    }

    /// An attempt failed with an error that is to be waited out.
    ///
    /// - Parameters:
    ///   - member: From ``makeMemberID()``; the same one each time this operation fails.
    ///   - mark: Where the calls to retry stood when the attempt began.
    public mutating func operationFailed(_ member: MemberID, since mark: CallMark) -> [Action] {
        if condemned.remove(member) != nil { return [.fail([member])] }
        let opening: [Action] = isVisible ? [] : [.show]
        if mark != now {
            // The call came while the attempt was under way, perhaps too late to help it.
            members[member] = .runningAgain
            return opening + [.runAgain([member])]
        }
        members[member] = .waiting
        return opening + startCountdown()
    }

    /// An operation succeeded, failed with an error that is not waited out, or its task was cancelled.
    ///
    /// - Parameter member: Operations that are not members are none of the incident's business.
    public mutating func operationEnded(_ member: MemberID) -> [Action] {
        condemned.remove(member)
        guard members.removeValue(forKey: member) != nil else { return [] }
        if members.isEmpty { return close() }
        return waitingCount == 0 ? stopCountdown() : []
    }

    /// A person wants everything tried again. Also those that are under way get one more attempt if they fail.
    public mutating func retryRequested() -> [Action] {
        now.callCount &+= 1
        return stopCountdown() + runWaitingAgain()
    }

    /// Something says that the way may be open again, for example that the network is reachable.
    public mutating func wokenUp() -> [Action] {
        if isVisible {
            guard !isManualOnly else { return [] }
            automaticRetryCount += 1
        }
        now.callCount &+= 1
        return stopCountdown() + runWaitingAgain()
    }

    /// A person gives up: everything that waits fails as cancelled. What runs again at the moment may still
    /// succeed, but does not wait again.
    public mutating func cancelRequested() -> [Action] {
        let waiting = members.filter { $0.value == .waiting }.keys.sorted()
        condemned.formUnion(members.filter { $0.value == .runningAgain }.keys)
        guard isVisible else { return [] }
        members = [:]
        return close() + (waiting.isEmpty ? [] : [.fail(waiting)])
    }

    /// The time of a countdown has passed. A countdown that was stopped meanwhile changes nothing.
    public mutating func countdownEnded(_ countdown: CountdownID) -> [Action] {
        guard runningCountdown == countdown else { return [] }
        runningCountdown = nil
        automaticRetryCount += 1
        return runWaitingAgain()
    }

    private mutating func runWaitingAgain() -> [Action] {
        let waiting = members.filter { $0.value == .waiting }.keys.sorted()
        for member in waiting { members[member] = .runningAgain }
        return waiting.isEmpty ? [] : [.runAgain(waiting)]
    }

    private mutating func startCountdown() -> [Action] {
        guard let countdown, runningCountdown == nil, !isManualOnly else { return [] }
        lastCountdownNumber += 1
        let id = CountdownID(number: lastCountdownNumber)
        runningCountdown = id
        return [.startCountdown(id, max(.zero, countdown))]
    }

    private mutating func stopCountdown() -> [Action] {
        runningCountdown.take() == nil ? [] : [.stopCountdown]
    }

    private mutating func close() -> [Action] {
        automaticRetryCount = 0
        return stopCountdown() + [.hide]
    }
}
