/// Why the admin API could not be served.
package enum AdminError: Error, Sendable, CustomStringConvertible {
    /// The address is in use, does not belong to this machine, or is not permitted.
    case cannotListen(address: String, reason: String)

    package var description: String {
        switch self {
        case .cannotListen(let address, let reason):
            "admin.listen: cannot listen on \(address): \(reason)"
        }
    }
}
