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
