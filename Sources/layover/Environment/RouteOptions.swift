import ArgumentParser
import Foundation
import LayoverAdmin
import LayoverConfiguration
import LayoverCore
import LayoverHTTP

/// The route whose base URL programs are to use in place of the proxy.
struct RouteOptions: ParsableArguments {
    @Option(
        name: .customLong("route"),
        help: "Print the variables with which programs take the base URL of this route, instead of the proxy variables.")
    var name: String?

    @Option(name: .customLong("for"), help: "The programs that use the route. Default: by the host of its upstream.")
    var family: ProgramFamily?

    @Option(
        name: .customLong("route-key"),
        help: "The key of the route, if it has one. Default: LAYOVER_ROUTE_KEY, or from the configuration file.",
        transform: { Secret($0) })
    var key: Secret?

    @OptionGroup var file: ConfigurationOptions

    /// The variables for the proxy that the options name.
    func variables(
        of name: String, _ options: ProxyURLOptions, environment: [String: String]
    ) async throws -> RouteVariables {
        let facts = file.file == nil ? try await running(name, options.connection, environment) : try configured(name)
        var base = try Self.address(of: await options.search(environment: environment), for: name, hasKey: facts.hasKey)
        if base.hasSuffix("/") { base.removeLast() }
        base += "/.layover/route/" + name
        if facts.hasKey {
            guard let key = key ?? environment.nonempty("LAYOVER_ROUTE_KEY").map({ Secret($0) }) ?? facts.key ?? fileKey(of: name) else {
                throw CommandFailure(
                    code: .usage,
                    message: "the route \(name) requires a key, which the running proxy does not tell; give it with --route-key, "
                        + "or the configuration file with --config")
            }
            base += "/~" + key.revealed
        }
        let url = URLReference(Array(facts.upstream.utf8))
        guard let origin = url.origin, let port = Int(origin[2]) else {
            throw CommandFailure(code: .usage, message: "the upstream of the route \(name) is no URL")
        }
        var path = String(decoding: url.path, as: UTF8.self)
        if path.hasSuffix("/") { path.removeLast() }
        return RouteVariables(route: name, base: base, host: origin[1], port: port, path: path, family: family)
    }

    /// The URL of the proxy, without credentials: those of a base URL are for the origin. The key of a route stands for a user.
    private static func address(of search: ProxyURLOptions.Search, for name: String, hasKey: Bool) throws(CommandFailure) -> String {
        switch search {
        case .found(let running): return running.proxyURL.replacing(#/^([a-z]+:\/\/)[^@\/]*@/#) { $0.output.1 }
        case .needsUser(let url, _) where hasKey: return url
        case .needsUser:
            throw CommandFailure(
                code: .usage,
                message: "the proxy asks for users, which base URLs cannot name; give the route a key (routes.\(name).key)")
        case .unusable(let failure), .nothing(let failure): throw failure
        }
    }

    private struct Facts {
        var upstream: String
        var hasKey: Bool
        var key: Secret?
    }

    private func running(_ name: String, _ connection: ConnectionOptions, _ environment: [String: String]) async throws -> Facts {
        let response = try await connection.client(environment: environment).send(AdminCall("/v1/config"))
        let values = Dictionary(
            try response.decoded(ConfigurationDocument.self).data.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
        let known = values.compactMap { key, value in
            key.hasPrefix("routes.") && key.hasSuffix(".upstream") && value != .null
                ? String(key.dropFirst("routes.".count).dropLast(".upstream".count)) : nil
        }
        guard case .text(let upstream)? = values["routes.\(name).upstream"] else {
            throw Self.unknown(name, isRoute: values["routes.\(name).upstream"] != nil, known)
        }
        return Facts(upstream: upstream, hasKey: values["routes.\(name).key"].map { $0 != .null } ?? false)
    }

    private func configured(_ name: String) throws -> Facts {
        let routes = try file.load().settings.routes
        let route = routes.route(named: name)
        guard let route, let upstream = route.upstream else {
            throw Self.unknown(name, isRoute: route != nil, routes.routes.filter { $0.upstream != nil }.map(\.name))
        }
        return Facts(upstream: upstream.origin.description + upstream.basePath, hasKey: route.key != nil, key: route.key)
    }

    /// The key in the file that a proxy of this user reads by default.
    private func fileKey(of name: String) -> Secret? {
        (try? file.layers().load())?.settings.routes.route(named: name)?.key
    }

    private static func unknown(_ name: String, isRoute: Bool, _ known: [String]) -> CommandFailure {
        let what = isRoute ? "the route \(name) has no upstream, and so no base URL" : "there is no route \(name)"
        let others = known.isEmpty ? "no route has one" : "routes with one: \(known.sorted().joined(separator: ", "))"
        return CommandFailure(code: .usage, message: "\(what); \(others)")
    }
}
