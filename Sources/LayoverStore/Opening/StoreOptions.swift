import LayoverCore
import LayoverCrypto
package import Logging

/// How a store is opened.
package struct StoreOptions: Sendable {
    /// The database file (`store.path`). Its log (`-wal`), the log's index (`-shm`), its lock (`.lock`) and its key
    /// file lie beside it.
    package var path: String
    /// The folder of bodies that are too big for a row (`store.spool`). Default: `spool` beside the database.
    package var spoolFolder: String
    /// Names of fields, in any case, whose values are sealed; `Cookie` means `Set-Cookie` too
    /// (`store.encryptFields`). Default: all credential fields that are known.
    package var encryptFields = CredentialFields.sealedByDefault
    /// More of them, which may change while the store is open. Default: none.
    package var routeFields = SealedFields()
    /// Most changes that share one commit. Default: 4 096.
    package var groupCountMax = 4_096
    /// Called with the size of each body that the store has removed, from a file or a row, on any thread. Default: does nothing.
    package var bodyRemoved: @Sendable (Int) -> Void = { _ in }
    package var logger = Logger(label: "layover.store")

    package init(path: String, spoolFolder: String? = nil) {
        self.path = path
        self.spoolFolder = spoolFolder ?? PrivateFolder.of(path) + "/spool"
    }

    /// `store.key` beside the database.
    package var keyFile: String { PrivateFolder.of(path) + "/store.key" }
}
