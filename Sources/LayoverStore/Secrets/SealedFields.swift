import Synchronization

/// Names of fields that are sealed besides those of `store.encryptFields`: what the routes set or add.
///
/// A reload adds names. None is removed before the process ends: requests of an earlier route are still stored.
package final class SealedFields: Sendable {
    private let kept: Mutex<Set<String>>

    package init(_ names: some Sequence<String> = []) { kept = Mutex(Set(names.map { $0.lowercased() })) }

    package func add(_ names: some Sequence<String>) {
        let more = names.map { $0.lowercased() }
        kept.withLock { $0.formUnion(more) }
    }

    /// In lower case.
    var names: Set<String> { kept.withLock { $0 } }
}
