/// When an attempt that a person asked for is made.
package enum WillGo: String, Sendable, Hashable, CaseIterable {
    /// It is under way.
    case now
    /// When the mode is no longer `offline`.
    case modeEnds
    /// When the requests before it in its lane are done.
    case laneFree
    /// When the origin has room for another attempt.
    case windowOpens
    /// When a pause is over.
    case pauseEnds
}
