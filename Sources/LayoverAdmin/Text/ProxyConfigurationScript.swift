import Foundation
import LayoverText

/// The script by which a browser learns of the proxy (proxy auto-configuration, `/proxy.pac`).
struct ProxyConfigurationScript {
    /// `PROXY host:port`. Nil: browsers use no proxy, for example because Layover listens on a Unix socket.
    private let address: String?

    /// - Parameters:
    ///   - proxy: `http://host:port`, or `https://host:port` where browsers speak TLS to it.
    ///   - host: The host by which the browser reaches this machine, without port, where the proxy listens on all its addresses. Nil: the
    ///     browser uses the host of `proxy`.
    init(proxy: String?, host: String?) {
        guard let proxy, let url = URLComponents(string: proxy), let ownHost = url.host, let scheme = url.scheme else {
            address = nil
            return
        }
        let isSecure = scheme == "https"
        let literal = ownHost.contains(":") && !ownHost.hasPrefix("[") ? "[\(ownHost)]" : ownHost
        address = "\(isSecure ? "HTTPS" : "PROXY") \(host ?? literal):\(url.port ?? (isSecure ? 443 : 80))"
    }

    /// Browsers reach this machine directly. Where Layover does not run, they go on without it.
    var text: String {
        """
        function FindProxyForURL(url, host) {
          if (isPlainHostName(host) || shExpMatch(host, "*.localhost") || shExpMatch(host, "127.*") || host === "::1" || host === "[::1]")
            return "DIRECT";
          return "\(address.map { "\(EscapedText.json($0)); DIRECT" } ?? "DIRECT")";
        }

        """
    }
}
