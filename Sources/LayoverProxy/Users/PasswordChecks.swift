import LayoverCore
import LayoverEngine
import LayoverSystem
import LayoverText
import NIOCore
import NIOPosix
import Synchronization

/// Checks passwords for all loops, on threads of its own: one check takes tens of milliseconds on purpose.
///
/// Two run at a time, so that guessing cannot take the processor. More wait, in turns among the addresses of the clients; where too many
/// wait for one address, or in all, further ones are refused. Clients that give the same name and password wait for the same check
/// against the same hash.
package final class PasswordChecks: Sendable {
    /// Checks that run at a time. Default: 2.
    static let runningMax = 2

    /// Too many checks wait.
    struct Busy: Error {}

    private struct Check: Hashable {
        /// That of the credential.
        let digest: [UInt8]
        /// A reload may have given the user another one.
        let hash: PasswordHash
    }

    private struct Job {
        let check: Check
        let password: [UInt8]
    }

    private struct State {
        /// The waiters for each check, whether the check runs or waits itself.
        var promises: [Check: [EventLoopPromise<Bool>]] = [:]
        var queue = CheckQueue<Job>()
        var runningCount = 0
        var failures = FailedGuesses()
        /// Made with the first check: most proxies have no users.
        var threads: NIOThreadPool?
    }

    /// Of the digests of credentials. Of this process only.
    let key: SymmetricKey
    private let state: Mutex<State>

    package convenience init() throws { try self.init(threads: nil) }

    /// - Parameter threads: Where checks run; started. Nil: on threads of their own, which are made with the first check. A test passes
    ///   threads that it can stop.
    init(threads: NIOThreadPool?) throws {
        key = try .random(byteCount: SHA256.byteCount)
        state = Mutex(State(threads: threads))
    }

    /// Whether the password of the credential has that hash.
    ///
    /// Fails with `Busy`.
    ///
    /// - Parameter address: Of the client, without its port.
    func check(
        _ credential: ProxyCredential, against hash: PasswordHash, from address: String, on eventLoop: any EventLoop
    ) -> EventLoopFuture<Bool> {
        let check = Check(digest: credential.digest, hash: hash)
        let promise = eventLoop.makePromise(of: Bool.self)
        let isAccepted = state.withLock { state in
            if state.promises[check] != nil {
                state.promises[check]?.append(promise)
                return true
            }
            guard state.queue.add(Job(check: check, password: credential.password), from: Self.network(of: address)) else { return false }
            state.promises[check] = [promise]
            return true
        }
        if isAccepted { startNext() } else { promise.fail(Busy()) }
        return promise.futureResult
    }

    /// How long a refusal after a failed check is delayed. Counts the failure.
    func refusalDelay(from address: String, at now: Timestamp) -> Duration {
        let network = Self.network(of: address)
        return state.withLock { $0.failures.failed(from: network, at: now) }
    }

    /// One client with IPv6 may use all addresses of its network.
    private static func network(of address: String) -> String {
        guard address.contains(":"), let network = NetworkAddress(anySpelling: address)?.network else { return address }
        return "\(network)"
    }

    /// Starts what waits, as far as there is a place for it.
    private func startNext() {
        let started: (job: Job, address: String, threads: NIOThreadPool)? = state.withLock { state in
            guard state.runningCount < Self.runningMax, let (job, address) = state.queue.next() else { return nil }
            state.runningCount += 1
            let threads = state.threads ?? NIOThreadPool(numberOfThreads: Self.runningMax)
            if state.threads == nil { threads.start() }
            state.threads = threads
            return (job, address, threads)
        }
        guard let (job, address, threads) = started else { return }
        threads.submit { [self] _ in
            let isRight = job.check.hash.matches(job.password)
            let waiting = state.withLock { state in
                state.runningCount -= 1
                state.queue.finished(from: address)
                return state.promises.removeValue(forKey: job.check) ?? []
            }
            for promise in waiting { promise.succeed(isRight) }
            startNext()
        }
    }
}

/// Work that waits for one of a few places, in turns among the addresses that it comes from.
///
/// An address with many pieces of work delays its own ones, and each other address by one piece at most for each place.
struct CheckQueue<Work> {
    /// Pieces of work that wait for one address. Default: 16.
    static var countPerAddressMax: Int { 16 }
    /// Pieces of work that wait in all. Default: 256.
    static var countMax: Int { 256 }

    private var waiting: [String: [Work]] = [:]
    /// Addresses with waiting work, in the order of their turns.
    private var turns: [String] = []
    private var running: [String: Int] = [:]
    private(set) var count = 0

    /// - Returns: False: there is no room.
    mutating func add(_ work: Work, from address: String) -> Bool {
        guard count < Self.countMax, waiting[address]?.count ?? 0 < Self.countPerAddressMax else { return false }
        if waiting[address] == nil { turns.append(address) }
        waiting[address, default: []].append(work)
        count += 1
        return true
    }

    /// The next piece of work: of the address with the fewest that run, and among these of the one whose turn it is.
    mutating func next() -> (work: Work, address: String)? {
        guard let index = turns.indices.min(by: { running[turns[$0]] ?? 0 < running[turns[$1]] ?? 0 }) else { return nil }
        let address = turns.remove(at: index)
        guard var works = waiting[address], !works.isEmpty else { return nil }
        let work = works.removeFirst()
        count -= 1
        waiting[address] = works.isEmpty ? nil : works
        if !works.isEmpty { turns.append(address) }
        running[address, default: 0] += 1
        return (work, address)
    }

    /// A piece of work is done.
    mutating func finished(from address: String) {
        let left = (running[address] ?? 1) - 1
        running[address] = left > 0 ? left : nil
    }
}
