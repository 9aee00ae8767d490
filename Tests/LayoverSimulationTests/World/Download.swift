import LayoverCore

/// Progress of a response that can break off and continue.
struct Download {
    /// The representation of the last response that began from the start; nil if it has no validator.
    private(set) var representation: Representation?
    private(set) var versionCount = 0
    /// True if the proxy must request the rest after a break.
    private(set) var canGoOn = false
    /// How much of it has come.
    private(set) var doneCount = 0
    /// How much of it had come when the attempts were last counted from one again.
    private var countedFrom = 0
    /// When it broke off last behind bytes that had not come before; nil: it never did.
    private(set) var movedAt: Timestamp?
    private var movedCount = 0
    /// True if the response broke off and its rest is missing.
    private(set) var isBroken = false
    /// Whether what came last from its origin ends it: what is not the rest, or a failure that waiting does not mend.
    private(set) var isEndedByOrigin = false
    /// Requests for the rest that the origin has answered.
    var restCount = 0

    /// A response that says of which version it is begins.
    mutating func begin(number: Int, byteCount: Int, canGoOn: Bool) -> Representation {
        versionCount += 1
        let new = Representation(number: number, version: versionCount, byteCount: byteCount)
        (representation, doneCount, countedFrom, movedCount, restCount) = (new, 0, 0, 0, 0)
        self.canGoOn = canGoOn
        forgetBreak()
        return new
    }

    /// The request for the rest is answered with all of another version, which takes the place of what came where nobody has read of it.
    mutating func isReplaced(by other: Representation) {
        (representation, doneCount, movedCount, restCount) = (other, 0, 0, 0)
        forgetBreak()
    }

    /// A response begins that does not say of which version it is.
    mutating func beginWithoutTag() {
        (representation, canGoOn) = (nil, false)
        forgetBreak()
    }

    /// Nobody has what came of it.
    mutating func forgetBreak() { (isBroken, isEndedByOrigin) = (false, false) }

    /// The request for its rest has come to a response, or to nothing.
    mutating func restWasAskedFor(isEnd: Bool) { isEndedByOrigin = isEnd }

    mutating func came(upTo end: Int, of part: Representation) {
        if part == representation { doneCount = min(max(doneCount, end), part.byteCount) }
    }

    /// - Returns: True if the attempts are counted from one again: 64 KiB have come since the last time
    ///   (`ResumableResponse.progressMin`).
    mutating func broke(at now: Timestamp) -> Bool {
        (isBroken, isEndedByOrigin) = (canGoOn, false)
        if canGoOn, doneCount > movedCount { (movedAt, movedCount) = (now, doneCount) }
        guard canGoOn, doneCount - countedFrom >= 64 << 10 else { return false }
        countedFrom = doneCount
        return true
    }
}
