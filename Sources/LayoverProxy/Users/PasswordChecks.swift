import LayoverCrypto
import LayoverPasswords
import NIOCore
import NIOPosix
import Synchronization

/// Checks passwords for all loops, on threads of its own: one check takes tens of milliseconds on purpose.
///
/// Two run at a time. More are refused, so that guessing cannot take the processor. Clients that give the same name and password wait
/// for the same check against the same hash.
package final class PasswordChecks: Sendable {
    /// Checks that run at a time. Default: 2.
    static let runningMax = 2

    /// Two checks run already.
    struct Busy: Error {}

    private struct Check: Hashable {
        /// That of the credential.
        let digest: [UInt8]
        /// A reload may have given the user another one.
        let hash: PasswordHash
    }

    private struct State {
        /// Who waits for a check.
        var running: [Check: [EventLoopPromise<Bool>]] = [:]
        /// Made with the first check: most proxies have no users.
        var threads: NIOThreadPool?
    }

    /// Of the digests of credentials. Of this process only.
    let key: SymmetricKey
    private let state = Mutex(State())

    package init() throws {
        key = try .random(byteCount: SHA256.byteCount)
    }

    /// Whether the password of the credential has that hash.
    ///
    /// Fails with `Busy`.
    func check(_ credential: ProxyCredential, against hash: PasswordHash, on eventLoop: any EventLoop) -> EventLoopFuture<Bool> {
        let check = Check(digest: credential.digest, hash: hash)
        let promise = eventLoop.makePromise(of: Bool.self)
        let threads: NIOThreadPool? = state.withLock { state in
            if state.running[check] != nil {
                state.running[check]?.append(promise)
                return nil
            }
            guard state.running.count < Self.runningMax else {
                promise.fail(Busy())
                return nil
            }
            state.running[check] = [promise]
            let threads = state.threads ?? NIOThreadPool(numberOfThreads: Self.runningMax)
            if state.threads == nil { threads.start() }
            state.threads = threads
            return threads
        }
        threads?.submit { [self] _ in
            let isRight = hash.matches(credential.password)
            for waiting in state.withLock({ $0.running.removeValue(forKey: check) ?? [] }) { waiting.succeed(isRight) }
        }
        return promise.futureResult
    }
}
