import LayoverCore
import LayoverTrust

/// The proxy of a command.
enum ExecTarget: Sendable {
    case shared(ProxyEnvironment, AdminClient)
    /// With what makes the command trust the authority of interception, where hosts are intercepted.
    case own(PrivateInstance, authority: AuthorityVariables?)

    /// For the event stream.
    func client() throws(CommandFailure) -> AdminClient? {
        switch self {
        case .shared(_, let client): client
        case .own(let instance, _): AdminClient(address: try AdminAddress(instance.ports.adminURL), token: instance.ports.token)
        }
    }

    /// The environment of the command. In it, `layover exec` uses the same proxy and leaves the lines to this one.
    func variables(over environment: [String: String]) throws(CommandFailure) -> [String: String] {
        switch self {
        case .shared(let proxy, _):
            return try proxy.applied(to: environment).merging(["LAYOVER_PROXY_URL": proxy.proxyURL]) { $1 }
        case .own(let instance, let authority):
            let url = instance.ports.proxyURL ?? ""
            var proxy = ProxyEnvironment(proxyURL: url)
            proxy.authority = authority
            var result = try proxy.applied(to: environment)
            result["LAYOVER_PROXY_URL"] = url
            // Commands that steer a proxy mean this one.
            result["LAYOVER_ADMIN_URL"] = instance.ports.adminURL
            result["LAYOVER_TOKEN"] = instance.ports.token?.revealed
            return result
        }
    }

    func checkLife() { if case .own(let instance, _) = self { instance.checkLife() } }

    /// Blocks.
    func stop() { if case .own(let instance, _) = self { instance.stop() } }
}
