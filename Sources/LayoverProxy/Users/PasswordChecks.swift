import LayoverCrypto
import LayoverPasswords
import NIOCore
import NIOPosix
import Synchronization

/// Checks passwords for all loops, on threads of its own: one check takes tens of milliseconds on purpose.
///
/// Two run at a time. More are refused, so that guessing cannot take the processor. Clients that give the same name and password wait
/// for the same check.
package final class PasswordChecks: Sendable {
    /// Checks that run at a time. Default: 2.
    static let runningMax = 2

    /// Two checks run already.
    struct Busy: Error {}

    private struct State {
        /// Who waits for a check, by the digest of its credential.
        var running: [[UInt8]: [EventLoopPromise<Bool>]] = [:]
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
        let digest = credential.digest
        let promise = eventLoop.makePromise(of: Bool.self)
        let threads: NIOThreadPool? = state.withLock { state in
            if state.running[digest] != nil {
                state.running[digest]?.append(promise)
                return nil
            }
            guard state.running.count < Self.runningMax else {
                promise.fail(Busy())
                return nil
            }
            state.running[digest] = [promise]
            let threads = state.threads ?? NIOThreadPool(numberOfThreads: Self.runningMax)
            if state.threads == nil { threads.start() }
            state.threads = threads
            return threads
        }
        threads?.submit { [self] _ in
            let isRight = hash.matches(credential.password)
            for waiting in state.withLock({ $0.running.removeValue(forKey: digest) ?? [] }) { waiting.succeed(isRight) }
        }
        return promise.futureResult
    }
}
