/// Why the admin API could not be served.
package enum AdminError: Error, Sendable, CustomStringConvertible {
    /// The address is taken, not ours, or not to be had for want of rights.
    case cannotListen(address: String, reason: String)

    package var description: String {
        switch self {
        case .cannotListen(let address, let reason):
            "admin.listen: cannot listen on \(address): \(reason)"
        }
    }
}
