import LayoverText

/// The script by which a browser learns of the proxy (proxy auto-configuration, `/proxy.pac`).
struct ProxyConfigurationScript {
    /// Nil: nothing goes through a proxy, as where it listens on a Unix socket.
    private let address: String?

    /// - Parameter proxy: `http://host:port`.
    init(proxy: String?) {
        address = proxy.flatMap { $0.hasPrefix("http://") ? String($0.dropFirst(7)) : nil }
    }

    /// What is on this machine goes there at once. Where Layover does not run, browsers go on without it.
    var text: String {
        """
        function FindProxyForURL(url, host) {
          if (isPlainHostName(host) || shExpMatch(host, "*.localhost") || shExpMatch(host, "127.*") || host === "::1" || host === "[::1]")
            return "DIRECT";
          return "\(address.map { "PROXY \(EscapedText.json($0)); DIRECT" } ?? "DIRECT")";
        }

        """
    }
}
