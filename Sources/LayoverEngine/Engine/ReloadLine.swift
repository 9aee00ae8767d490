package import LayoverCore
import NIOCore

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
    /// Nil: there are no tickets.
    private let store: (any PendingStore)?
    private var isNextAskedFor = false

    init(portion: Int, store: (any PendingStore)?) {
        self.portion = portion
        self.store = store
    }

    /// Has the engine look at the next portion (`Engine.rerouteSome`) when it is time.
    ///
    /// - Parameter isFirst: Whether entries that have their turn before the others are left.
    mutating func askForNext(isFirst: Bool, for engine: Engine) {
        let eventLoop = engine.eventLoop
        // Clients wait for most of those that come first. Few of them are tickets, so they need not wait for the store.
        if isFirst {
            return eventLoop.execute { [weak engine] in engine?.assumeIsolated { $0.rerouteSome() } }
        }
        guard !isNextAskedFor else { return }
        isNextAskedFor = true
        let next: @Sendable () -> Void = { [weak engine] in
            engine?.assumeIsolated {
                $0.rerouting.isNextAskedFor = false
                $0.rerouteSome()
            }
        }
        // Facts that have come meanwhile are worked on first, and the store has committed this portion: behind the changes of
        // all tickets a new ticket would wait for seconds.
        guard let store else { return eventLoop.execute(next) }
        store.commit([]) { _ in eventLoop.execute(next) }
    }
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
