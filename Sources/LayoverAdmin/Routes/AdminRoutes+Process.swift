import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import LayoverText
import NIOCore

/// The process as a whole.
extension AdminRoutes {
    func addProcessRoutes(to router: Router<AdminContext>) {
        router.get("/livez") { _, _ in try json(HealthDocument(status: "alive")) }
        router.get("/readyz") { _, _ in try readiness() }
        router.get("/version") { _, _ in
            try json(VersionDocument(name: "layover", version: LayoverVersion.current))
        }
        router.get("/proxy.pac") { request, _ in
            try refuseParameters(request)
            let host = sources.isOnAllAddresses ? request.head.authority.flatMap(RequestGuard.host) : nil
            let script =
                sources.publicProxyURL.map { ProxyConfigurationScript(proxy: $0, host: nil) }
                ?? ProxyConfigurationScript(proxy: sources.proxyURLs().first, host: host)
            return text(
                ByteBuffer(string: script.text),
                type: "application/x-ns-proxy-autoconfig")
        }
        router.get("/v1/fleet") { request, _ in
            try list([FleetDocument(await engine.status(), isDraining: sources.isDraining())], request)
        }
        router.get("/metrics") { request, _ in await metrics(request) }
        router.get("/openapi.yaml") { _, _ in await description() }
        router.get("/v1/status") { request, _ in
            try refuseParameters(request)
            return try json(
                StatusDocument(
                    await engine.status(), await engine.storeStatus(), await .init(sources), sources: sources, wall: wall))
        }
        guard let drain = sources.drain else { return }
        router.post("/v1/drain") { request, context in
            try refuseParameters(request)
            _ = try await input.document(CommandRequest.self, of: request, context.audit)
            drain()
            return try json(HealthDocument(status: "draining"))
        }
    }

    /// The description of all this. Its examples of ids are those of an entry and an incident that there are now, so that
    /// a program which makes requests of it reaches some. With a token it does not say that there may be none.
    private func description() async -> Response {
        var query = PendingQuery()
        query.limit = 1
        var description = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
        if let entry = await engine.page(of: query).entries.first {
            description.replace("00000000000000000000000000000001", with: engine.naming.shown(entry.id).description)
        }
        if let incident = await engine.incidents().first {
            description.replace("00000000000000000000000000000002", with: incident.id.description)
        }
        if access.asksForToken { description.replace("\nsecurity:\n  - {}\n", with: "\nsecurity:\n") }
        return text(ByteBuffer(string: description), type: "application/yaml")
    }

    /// Offline is ready too: the proxy parks, which is its job.
    private func readiness() throws -> Response {
        if sources.isDraining() { throw AdminProblem.draining }
        return try json(HealthDocument(status: "ready"))
    }

    /// In the format of OpenMetrics for those who ask for it.
    private func metrics(_ request: Request) async -> Response {
        let asksForOpenMetrics = (request.headers[.accept] ?? "").contains("application/openmetrics-text")
        let page = MetricsPage(
            status: await engine.status(), store: await engine.storeStatus(), sources: sources, process: .current(),
            upstream: await .init(sources),
            format: asksForOpenMetrics ? .openMetrics : .prometheus)
        return text(ByteBuffer(string: page.text), type: page.format.mediaType)
    }
}

/// The configuration: the values in force, and the reload.
extension AdminRoutes {
    func addConfigurationRoutes(to router: Router<AdminContext>) {
        if let configuration = sources.configuration {
            router.get("/v1/config") { request, _ in
                try refuseParameters(request)
                let document = ConfigurationDocument(configuration())
                return request.acceptsLines ? lines(document.data) : try json(document)
            }
        }
        guard let reload = sources.reload else { return }
        router.post("/v1/reload") { request, context in
            try refuseParameters(request)
            _ = try await input.document(CommandRequest.self, of: request, context.audit)
            let report = await reload()
            guard report.errors.isEmpty else { throw AdminProblem.configuration(report.errors) }
            return try json(ReloadDocument(report, wall: wall))
        }
    }
}

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
