package import LayoverCore

/// Where requests and bodies are kept.
package struct StoreSettings: Sendable, Hashable {
    /// The database. Nil: `fileName` in `standardFolder`. Default: nil.
    package var path: String?
    /// The folder of the database where `path` is nil. Default: the folder of the configuration file, which `run` replaces by
    /// that of the service or the user.
    package var standardFolder = ""
    /// A PostgreSQL database that several instances share. Nil: the database is the file at `path`. Default: nil.
    package var url: Secret?
    /// A file with the password for `url`. Default: nil.
    package var passwordFile: String?
    /// The key that secrets are encrypted with. Nil: `store.key` beside the database. Default: nil.
    package var keyFile: String?
    /// The folder of body files. Nil: the folder `spool` beside the database. Default: nil.
    package var spool: String?
    /// Names of fields whose values are stored encrypted, in any case; a list is all that the operator wants. Nil: the credential fields
    /// that are known, and all fields that routes set or add. Default: nil.
    package var listedFields: [String]?
    /// How long ended tickets stay known, and their responses can be collected. Default: 7 days.
    package var history = Duration.days(7)

    /// Whether there is a store, so that tickets can be accepted. False for the private proxy of one command. No key. Default: true.
    package var isOnDisk = true

    /// `listedFields`, or the credential fields that are known.
    package var encryptFields: [String] { listedFields ?? CredentialFields.sealedByDefault }

    /// Whether the fields that routes set or add are stored encrypted too.
    package var encryptsRouteFields: Bool { listedFields == nil }

    /// The name of a database whose path is not set.
    package static let fileName = "layover.sqlite"

    /// The database: `path`, or `fileName` in the standard folder.
    package var file: String { path ?? FilePath.resolve(Self.fileName, in: standardFolder) }

    /// The folder of the database. Empty: the current folder.
    package var folder: String { FilePath.folder(of: file) }

    /// The folder of body files: `spool`, or the folder of that name beside the database.
    package var spoolFolder: String { spool ?? FilePath.resolve("spool", in: folder) }
}
