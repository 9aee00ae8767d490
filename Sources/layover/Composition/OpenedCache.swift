import LayoverEngine
import Synchronization

/// The cache, once it has been opened: a reload may turn it on.
final class OpenedCache: Sendable {
    private let opened = Mutex<(any ResponseCache)?>(nil)

    var current: (any ResponseCache)? { opened.withLock { $0 } }
    var isNeeded: Bool { current == nil }

    func set(_ cache: any ResponseCache) { opened.withLock { $0 = cache } }
}
