/// Where a value comes from. Later cases win over earlier ones, but for the last.
package enum ValueSource: Sendable, Hashable, CustomStringConvertible {
    /// Nobody said anything.
    case standard
    /// The file, as it was named.
    case file(String)
    /// The name of the variable.
    case environment(String)
    case commandLine
    /// A socket that a service manager has bound.
    case serviceManager
    /// Inherited from this policy.
    case policy(String)

    package var description: String {
        switch self {
        case .standard: "default"
        case .file(let name): name
        case .environment(let name): name
        case .commandLine: "command line"
        case .serviceManager: "socket of the service manager"
        case .policy(let name): "policy \(name)"
        }
    }
}
