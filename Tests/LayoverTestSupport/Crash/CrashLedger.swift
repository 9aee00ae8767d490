import Dispatch
import Synchronization

/// Requests that the clients of the crash test sent, and the responses that they got.
package final class CrashLedger: Sendable {
    package struct Fate: Sendable {
        package var request: CrashRequest
        package var round: Int
        /// One ticket for each 202 response; more than one if a client with an Idempotency-Key repeated its request.
        package var tickets: [String] = []
        /// Statuses of responses other than 202.
        package var otherStatuses: [Int] = []
        /// The rounds in which it was refused with a 503. It may be asked again in a later round than its first.
        package var refusedRounds: [Int] = []
        /// The first final document of the ticket.
        package var firstEnd: ShownTicket?
        /// Why a person was asked, each time.
        package var asked: [String] = []

        package var ticket: String? { tickets.first }
    }

    private struct State {
        var order: [String] = []
        var fates: [String: Fate] = [:]
        var activeClientCount = 0
    }

    private let state = Mutex(State())
    /// Posted at each thing that happens; who wants to end the proxy at the n-th waits for n of them.
    private let happened = DispatchSemaphore(value: 0)

    package init() {}

    package var fates: [Fate] { state.withLock { state in state.order.compactMap { state.fates[$0] } } }

    package func sends(_ request: CrashRequest, round: Int) {
        state.withLock { state in
            if state.fates.updateValue(Fate(request: request, round: round), forKey: request.id) == nil {
                state.order.append(request.id)
            }
        }
        happened.signal()
    }

    package func change(_ id: String, _ change: (inout Fate) -> Void) {
        state.withLock { state in
            guard var fate = state.fates[id] else { return }
            change(&fate)
            state.fates[id] = fate
        }
        happened.signal()
    }

    /// A person was asked about a ticket, which may be one whose 202 was never received.
    package func asked(about url: String, why: String) {
        guard let id = url.split(separator: "/").last else { return }
        change(String(id)) { $0.asked.append(why) }
    }

    /// Any ticket that a client may look at or put another one after.
    package func anyTicket(using generator: inout SeededGenerator) -> (id: String, ticket: String)? {
        state.withLock { state in
            // Recent ones are still on their way.
            let recent = state.order.suffix(60).compactMap { id in state.fates[id]?.ticket.map { (id, $0) } }
            return recent.randomElement(using: &generator)
        }
    }

    /// One with a key whose client never heard of it, or forgot: a sane client asks again.
    package func oneToRepeat(using generator: inout SeededGenerator) -> CrashRequest? {
        state.withLock { state in
            let keyed = state.order.suffix(60).compactMap { state.fates[$0] }
                .filter { $0.request.hasKey && $0.request.place == nil && $0.otherStatuses.isEmpty }
            return keyed.randomElement(using: &generator)?.request
        }
    }

    // MARK: Moments

    /// - Returns: True if an event came in time and clients are left that can cause more.
    func waitForEvent(by deadline: Deadline) -> Bool {
        happened.wait(timeout: .now() + .milliseconds(Int(deadline.millisecondsLeft))) == .success
            && state.withLock { $0.activeClientCount > 0 }
    }

    /// Events from before do not count for the next moment.
    func begins(clientCount: Int) {
        state.withLock { $0.activeClientCount = clientCount }
        while happened.wait(timeout: .now()) == .success {}
    }

    func clientEnded() {
        state.withLock { $0.activeClientCount -= 1 }
        happened.signal()
    }
}
