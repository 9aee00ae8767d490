package import LayoverCore

/// The result of a reload.
package struct ReloadReport: Sendable, Hashable {
    package var at: Timestamp
    /// Keys whose new values are in force, sorted.
    package var appliedKeys: [String]
    /// Keys whose new values come into force with the next start, sorted.
    package var restartKeys: [String]
    /// Why nothing was changed, a line each; empty when all went well.
    package var errors: [String]
    /// At most how many entries have yet to find their routes. Each finds its route before its next attempt. In the status of the
    /// engine it is the number of now, after the newest reload that succeeded.
    package var entriesLeft: Int

    package init(
        at: Timestamp, appliedKeys: [String] = [], restartKeys: [String] = [], errors: [String] = [], entriesLeft: Int = 0
    ) {
        self.at = at
        self.appliedKeys = appliedKeys
        self.restartKeys = restartKeys
        self.errors = errors
        self.entriesLeft = entriesLeft
    }
}

/// The chain of portions in which entries find their routes after a reload. One chain is enough, whatever reload it is for.
struct ReroutingChain {
    /// Entries that find their routes before other facts are worked on.
    let portion: Int
    private var isNextAskedFor = false

    init(portion: Int) { self.portion = portion }

    /// - Returns: False if the next portion has been asked for already.
    mutating func askForNext() -> Bool {
        defer { isNextAskedFor = true }
        return !isNextAskedFor
    }

    mutating func nextBegins() { isNextAskedFor = false }
}

/// Runs reloads one after the other, by the rule of `ReloadTurns`.
///
/// An actor alone does not do that: it lets others in at every `await`, and a reload awaits each event loop.
package actor ReloadLine {
    private var turns = ReloadTurns()
    /// In the order in which they came. The admin port has a limit of connections, and SIGHUP asks for one at a time.
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init() {}

    /// Runs a reload once it is its turn.
    ///
    /// - Parameter reload: Reads the configuration and applies it in all parts before it returns.
    package func run<Result: Sendable>(_ reload: @Sendable () async -> Result) async -> Result {
        if turns.asked() == .waits { await withCheckedContinuation { waiting.append($0) } }
        let result = await reload()
        if turns.ended(), !waiting.isEmpty { waiting.removeFirst().resume() }
        return result
    }
}
