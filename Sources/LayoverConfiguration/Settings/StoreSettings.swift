package import LayoverCore

/// Where requests and bodies are kept.
package struct StoreSettings: Sendable, Hashable {
    /// The database. Default: layover.sqlite beside the configuration file.
    package var path = "layover.sqlite"
    /// A PostgreSQL database that several instances share. Nil: the one at `path`. Default: nil.
    package var url: Secret?
    /// A file with the password for `url`. Default: nil.
    package var passwordFile: String?
    /// The key that secrets are encrypted with. Nil: `store.key` beside the database. Default: nil.
    package var keyFile: String?
    /// The folder of body files. Nil: see `spoolFolder`. Default: nil.
    package var spool: String?
    /// Names of fields whose values are stored encrypted, in any case. Default: Authorization, Cookie.
    package var encryptFields = CredentialFields.sealedByDefault
    /// How long ended tickets stay known, and their responses can be collected. Default: 7 days.
    package var history = Duration.days(7)

    /// The folder of the database. Empty: the current folder.
    package var folder: String { FilePath.folder(of: path) }

    /// The folder of body files: `spool`, or the folder of that name beside the database.
    package var spoolFolder: String { spool ?? FilePath.resolve("spool", in: folder) }
}
