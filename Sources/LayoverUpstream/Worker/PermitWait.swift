import Dispatch
import LayoverEngine
import Synchronization

/// Blocks a worker's thread until it is known whether the first byte may leave: libcurl wants to know it at once (PREREQFUNCTION).
final class PermitWait: Sendable {
    private let isAnswered = DispatchSemaphore(value: 0)
    private let answer = Atomic<Bool>(false)

    private init() {}

    static func isGranted(_ permit: SendingPermit) -> Bool {
        let wait = PermitWait()
        permit { isGranted in
            wait.answer.store(isGranted, ordering: .releasing)
            wait.isAnswered.signal()
        }
        wait.isAnswered.wait()
        return wait.answer.load(ordering: .acquiring)
    }
}
