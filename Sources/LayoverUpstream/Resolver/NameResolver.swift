import CCurl
import Glibc
import Synchronization

/// The resolver that all workers of an upstream share: `ResolverMachine`, and the threads that it asks for.
///
/// libcurl's own would start a thread for each transfer, could not tell a name that does not exist from a
/// resolver that does not answer, and keeps answers over a change of the network.
final class NameResolver: Sendable {
    /// Blocks until the name is looked up. Called on a thread that may block.
    typealias LookUp = @Sendable (String) -> NameOutcome

    private struct State {
        var machine: ResolverMachine
        var mailboxes: [ResolverMachine.Asker: Mailbox] = [:]
        var lastAsker = 0
    }

    private let state: Mutex<State>
    private let lookUp: LookUp

    init(limits: ResolverLimits, lookUp: @escaping LookUp) {
        state = Mutex(State(machine: ResolverMachine(limits: limits)))
        self.lookUp = lookUp
    }

    /// Lookups that run, those included that nobody waits for. Each has one thread.
    var threadCount: Int { state.withLock { $0.machine.runningCount } }

    // MARK: What workers say

    /// Registers a mailbox for answers. Returns the number by which the resolver knows it.
    func join(_ mailbox: Mailbox) -> ResolverMachine.Asker {
        state.withLock { state in
            state.lastAsker += 1
            state.mailboxes[state.lastAsker] = mailbox
            return state.lastAsker
        }
    }

    func leave(_ asker: ResolverMachine.Asker) {
        perform(
            state.withLock { state in
                state.mailboxes[asker] = nil
                return state.machine.left(asker, now: MonotonicClock.now)
            })
    }

    /// Asks for a name; never blocks. The answer comes as `.nameAnswered`, once, unless it is withdrawn.
    ///
    /// - Parameter notBefore: No answer to an older question is wanted, on `MonotonicClock`.
    /// - Returns: The answer if it is known already, or `busy` if too many names wait. Then no `.nameAnswered` follows.
    func ask(_ name: String, by asker: ResolverMachine.Asker, notBefore: UInt64) -> NameAnswer? {
        let actions = state.withLock { state in
            // The time is taken inside: facts must reach the machine in the order of their times.
            state.machine.asked(name, by: asker, notBefore: notBefore, now: MonotonicClock.now)
        }
        if case .deliver(let answer, name, [asker])? = actions.first { return answer }
        perform(actions)
        return nil
    }

    /// No connection could be made to the addresses of an answer.
    ///
    /// - Parameter time: When the name was asked for then.
    func distrust(_ name: String, askedAt time: UInt64) { state.withLock { $0.machine.distrusted(name, askedAt: time) } }

    func withdraw(_ names: Set<String>, by asker: ResolverMachine.Asker) {
        perform(
            state.withLock { $0.machine.withdrawn(names, by: asker, now: MonotonicClock.now) })
    }

    // MARK: Threads

    private func perform(_ actions: [ResolverAction]) {
        var left = actions[...]
        while let action = left.popFirst() {
            switch action {
            case .deliver(let answer, let name, let askers): deliver(answer, of: name, to: askers)
            case .start(let lookup, let name):
                if let error = LookupThread.start({ [self] in run(lookup, name) }) {
                    left += ended(lookup, with: .failed(.system(error)))
                }
            }
        }
    }

    /// The life of a thread: one lookup, and those whose turn comes with its end.
    private func run(_ lookup: UInt64, _ name: String) {
        var next: (lookup: UInt64, name: String)? = (lookup, name)
        while let (lookup, name) = next {
            next = nil
            var others: [ResolverAction] = []
            for action in ended(lookup, with: lookUp(name)) {
                if next == nil, case .start(let lookup, let name) = action {
                    next = (lookup, name)
                } else {
                    others.append(action)
                }
            }
            perform(others)
        }
    }

    private func ended(_ lookup: UInt64, with outcome: NameOutcome) -> [ResolverAction] {
        state.withLock { $0.machine.ended(lookup, with: outcome, now: MonotonicClock.now) }
    }

    private func deliver(_ answer: NameAnswer, of name: String, to askers: [ResolverMachine.Asker]) {
        let mailboxes = state.withLock { state in askers.compactMap { state.mailboxes[$0] } }
        for mailbox in mailboxes { _ = mailbox.post(.nameAnswered(name, answer)) }
    }
}

/// A detached thread that runs one closure and is gone.
enum LookupThread {
    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// - Returns: errno when no thread can be made; nothing runs then.
    static func start(_ run: @escaping @Sendable () -> Void) -> Int32? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(run: run))
        let result = pthread_create(&thread, &attributes, main, work.toOpaque())
        guard result != 0 else { return nil }
        work.release()
        return result
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        context in
        guard let context else { return nil }
        layover_name_thread("layover-name")
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
