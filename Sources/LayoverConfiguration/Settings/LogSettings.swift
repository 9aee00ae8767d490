/// What is logged, and how.
package struct LogSettings: Sendable, Hashable {
    /// The levels of swift-log, by the same names.
    package enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    package enum Format: String, Sendable, CaseIterable {
        /// Text on a terminal, JSON elsewhere.
        case auto
        case text
        /// One object a line.
        case json
    }

    /// One line for each exchange.
    package enum Access: String, Sendable, CaseIterable {
        case off, combined, json
    }

    /// Default: info.
    package var level = Level.info
    /// Default: auto.
    package var format = Format.auto
    /// Default: off.
    package var access = Access.off
}
