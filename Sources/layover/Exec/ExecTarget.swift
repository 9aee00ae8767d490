import LayoverCore

/// The proxy of a command.
enum ExecTarget: Sendable {
    case shared(url: String, AdminClient)
    case own(PrivateInstance)

    /// For the event stream.
    func client() throws(CommandFailure) -> AdminClient? {
        switch self {
        case .shared(_, let client): client
        case .own(let instance): AdminClient(address: try AdminAddress(instance.ports.adminURL), token: instance.ports.token)
        }
    }

    /// The environment of the command. In it, `layover exec` uses the same proxy and leaves the lines to this one.
    func variables(over environment: [String: String]) throws(CommandFailure) -> [String: String] {
        switch self {
        case .shared(let url, _):
            return try ProxyEnvironment(proxyURL: url).applied(to: environment).merging(["LAYOVER_PROXY_URL": url]) { $1 }
        case .own(let instance):
            let url = instance.ports.proxyURL ?? ""
            var result = try ProxyEnvironment(proxyURL: url).applied(to: environment)
            result["LAYOVER_PROXY_URL"] = url
            // Commands that steer a proxy mean this one.
            result["LAYOVER_ADMIN_URL"] = instance.ports.adminURL
            result["LAYOVER_TOKEN"] = instance.ports.token?.revealed
            return result
        }
    }

    func checkLife() { if case .own(let instance) = self { instance.checkLife() } }

    /// Blocks.
    func stop() { if case .own(let instance) = self { instance.stop() } }
}
