/// Trust, upstream and downstream.
package struct TLSSettings: Sendable, Hashable {
    /// A PEM file of authorities trusted upstream besides the system's. Default: nil.
    package var caFile: String?
    /// The folder of the interception authority. Nil: the folder of the store. Default: nil.
    package var folder: String?
}

extension Settings {
    /// The folder of the interception authority: `tls.folder`, or that of the store. Empty: the current folder.
    package var authorityFolder: String { tls.folder ?? store.folder }
}
