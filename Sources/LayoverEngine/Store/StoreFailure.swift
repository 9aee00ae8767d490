/// Why a group of changes may not be on disk.
package struct StoreFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The disk or a quota is full.
        case full
        /// The file system is read-only.
        case readOnly
        /// Reading or writing failed.
        case io
        /// The file is not a database of Layover, or is damaged.
        case corrupt
        /// Another process has the store.
        case locked
        /// The store is closed.
        case closed
        case other
    }

    package var kind: Kind
    /// A complete sentence. Never holds stored data.
    package var message: String
    /// Whether the changes may turn out to be on disk after a restart: the disk said neither yes nor no, and the
    /// next commit that succeeds makes it no. False: nothing of them is there, and nothing will be.
    package var mayBeKept: Bool

    package init(_ kind: Kind, _ message: String, mayBeKept: Bool = false) {
        self.kind = kind
        self.message = message
        self.mayBeKept = mayBeKept
    }

    package var description: String { "\(kind.rawValue): \(message)" }
}
