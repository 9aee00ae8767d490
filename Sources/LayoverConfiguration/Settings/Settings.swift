package import LayoverCore

/// Everything that a configuration can say, checked and complete.
package struct Settings: Sendable {
    package var proxy = ProxySettings()
    package var admin = AdminSettings()
    package var log = LogSettings()
    package var store = StoreSettings()
    package var limits = Limits()
    package var timeouts = Timeouts()
    package var reachability = ReachabilitySettings()
    package var upstreamProxy = UpstreamProxySettings()
    package var notify = NotifySettings()
    package var tls = TLSSettings()
    /// Routes and the policies they use.
    package var routes = RouteTable()

    /// The defaults.
    package init() {}
}

extension Settings {
    /// Makes every relative path one that starts at the folder of the configuration file.
    mutating func resolvePaths(in folder: String) {
        func resolved(_ path: String?) -> String? { path.map { FilePath.resolve($0, in: folder) } }
        if case .unix(let path) = proxy.listen {
            proxy.listen = .unix(path: FilePath.resolve(path, in: folder))
        }
        proxy.tls.certificate = resolved(proxy.tls.certificate)
        proxy.tls.key = resolved(proxy.tls.key)
        store.path = resolved(store.path)
        store.standardFolder = folder
        store.spool = resolved(store.spool)
        store.passwordFile = resolved(store.passwordFile)
        store.keyFile = resolved(store.keyFile)
        tls.caFile = resolved(tls.caFile)
        tls.folder = resolved(tls.folder)
    }
}

/// Paths as text. Nothing here looks at the disk.
enum FilePath {
    /// The path as seen from the folder; absolute ones stay as they are.
    static func resolve(_ path: String, in folder: String) -> String {
        if path.hasPrefix("/") || folder.isEmpty { return path }
        return folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }

    /// Everything before the last slash. Empty: the current folder.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// What is logged, and how.
package struct LogSettings: Sendable, Hashable {
    /// The levels of swift-log, by the same names.
    package enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    package enum Format: String, Sendable, CaseIterable {
        /// Text on a terminal, JSON elsewhere.
        case auto
        case text
        /// One object a line.
        case json
    }

    /// One line for each exchange.
    package enum Access: String, Sendable, CaseIterable {
        case off, combined, json
    }

    /// Default: info.
    package var level = Level.info
    /// Default: auto.
    package var format = Format.auto
    /// Default: off.
    package var access = Access.off
}

/// The receivers of notifications about incidents.
package struct NotifySettings: Sendable, Hashable {
    /// An `http://` or `https://` address that gets a POST for each incident. It often has a key in its path.
    /// Nil: there is no webhook. Default: nil.
    package var webhook: Secret?
    /// The secret that the webhook's requests are signed with (Standard Webhooks). Nil: they are not signed. Default: nil.
    package var secret: Secret?
    /// A program and its arguments, run for each incident with JSON on its standard input. Arguments may be tokens.
    /// Nil: there is no program. Default: nil.
    package var command: [Secret]?
    /// Least time between two messages. Default: 1 minute.
    package var interval = Duration.seconds(60)
}

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

/// How Layover learns whether the network is there.
package struct ReachabilitySettings: Sendable, Hashable {
    /// An HTTP request that is made to see whether the network works.
    package struct Probe: Sendable, Hashable {
        /// An `http://` or `https://` address to probe. Nil: there is no probe. Default: nil.
        package var url: Secret?
        /// The status of the probe without a captive portal. Another status counts as one. Default: 204.
        package var expectStatus = 204
        /// Default: 10 s.
        package var interval = Duration.seconds(10)
    }

    /// Default: auto.
    package var mode = ReachabilityMode.auto
    package var probe = Probe()
    /// How long signs of a change are gathered before they count as one. Default: 500 ms.
    package var debounce = Duration.milliseconds(500)
}

/// The proxy that upstreams are reached through.
package struct UpstreamProxySettings: Sendable, Hashable {
    /// The parent proxy of all upstreams but the exceptions. Nil: there is no such proxy. Default: nil.
    package var url: ParentProxy?
    /// Hosts that are reached without it. Default: none.
    package var noProxy: [ParentProxyRules.Exception] = []

    var rules: ParentProxyRules {
        var rules = ParentProxyRules()
        rules.general = url
        rules.exceptions = noProxy
        return rules
    }
}
