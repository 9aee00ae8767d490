/// Trust, upstream and downstream.
package struct TLSSettings: Sendable, Hashable {
    /// A PEM file of authorities trusted upstream besides the system's. Default: nil.
    package var caFile: String?
    /// The folder of the interception authority. Nil: beside the store. Default: nil.
    package var folder: String?
}
