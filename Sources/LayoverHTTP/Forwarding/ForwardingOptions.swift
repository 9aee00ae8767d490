/// What a caller may change about the fields that are forwarded.
package struct ForwardingOptions: Sendable {
    /// Whether `Upgrade` goes on, with a `Connection: Upgrade` of ours. Default: false.
    package var keepsUpgrade = false

    /// Whether `Prefer` goes on. False once we honour it ourselves. Default: true.
    package var keepsPrefer = true

    /// More names that do not go on. They may have any case. Default: none.
    package var removedNames: [[UInt8]] = []

    package init() {}
}
