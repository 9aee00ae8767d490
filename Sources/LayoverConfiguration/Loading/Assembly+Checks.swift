import Foundation
import LayoverCore
import LayoverText

extension Assembly {
    /// Checks the keys of the listeners that depend on each other.
    mutating func checkListeners() {
        let proxyListen = KeyAddress(section: .global, key: ["proxy", "listen"])
        let adminListen = KeyAddress(section: .global, key: ["admin", "listen"])
        let socketMode = KeyAddress(section: .global, key: ["proxy", "socketMode"])
        let (proxy, admin) = (settings.proxy, settings.admin)

        if !admin.listen.isLoopback, admin.token == nil, isSound("admin.token") {
            refuse(adminListen, "\(admin.listen) is reachable from other machines, so admin.token is required")
        }
        if let viewToken = admin.viewToken, isSound("admin.token"), isSound("admin.viewToken") {
            let address = KeyAddress(section: .global, key: ["admin", "viewToken"])
            if admin.token == nil { refuse(address, "without admin.token every caller may do more than read") }
            if viewToken == admin.token { refuse(address, "is the same as admin.token") }
        }
        if !proxy.listen.isLoopback {
            if proxy.insecureOpen {
                warnings.append(
                    "proxy.insecureOpen: anyone who can reach \(proxy.listen) can use this proxy.")
            } else if proxy.users.isEmpty, isSound("proxy.users"), isSound("proxy.insecureOpen") {
                refuse(proxyListen, ProxySettings.needsUsers(proxy.listen))
            }
        }
        if (proxy.tls.certificate == nil) != (proxy.tls.key == nil), isSound("proxy.tls") {
            let missing = proxy.tls.certificate == nil ? "certificate" : "key"
            let other = KeyAddress(section: .global, key: ["proxy", "tls", missing == "key" ? "certificate" : "key"])
            refuse(other, "proxy.tls.\(missing) is missing")
        }
        if let port = proxy.listen.port, port != 0, port == admin.listen.port, isSound("proxy.listen"),
            isSound("admin.listen")
        {
            refuse(
                given[adminListen] == nil ? proxyListen : adminListen,
                "proxy.listen and admin.listen use the same port \(port)")
        }
        if proxy.socketMode != nil, proxy.listen.port != nil, isSound("proxy.listen") {
            refuse(
                socketMode, "applies to Unix domain sockets only, and proxy.listen is \(proxy.listen)")
        }
    }

    /// Routes that may not be without a key where others can connect.
    mutating func checkRouteKeys() {
        guard isSound("proxy.listen") else { return }
        for (name, route) in routes.sorted(by: { $0.key < $1.key }) {
            let address = KeyAddress(section: .route(name), key: ["key"])
            guard let complaint = route.complaint(on: settings.proxy.listen), isSound(address.path) else { continue }
            let fields = [["setFields"], ["addFields"]].map { KeyAddress(section: .route(name), key: $0) }
            refuse(address.path, complaint, by: fields.compactMap { given[$0]?.source }.first ?? .standard)
        }
    }

    /// Whether nothing was refused about the key, so that its default is what was meant.
    private func isSound(_ path: String) -> Bool { !errors.contains { $0.path.hasPrefix(path) } }
}

extension Assembly {
    /// Refuses a route if another route matches the same requests with the same rank.
    ///
    /// Only the names of the two routes would decide, and the second route would silently not apply.
    mutating func checkOverlaps() {
        let names = routes.keys.sorted()
        for (index, name) in names.enumerated() {
            guard let route = routes[name] else { continue }
            for other in names[..<index] {
                guard let overlap = routes[other]?.overlap(with: route) else { continue }
                refuse(
                    KeyAddress(section: .route(name), key: []).path,
                    "matches the same requests as \(KeyAddress(section: .route(other), key: []).path) (\(overlap)); give them "
                        + "different hosts, path prefixes or methods",
                    by: given.routeNames[name] ?? .standard)
            }
        }
    }
}

extension RouteSettings {
    /// The requests that both match with the same rank, in words. Nil: there are none.
    ///
    /// - SeeAlso: `RouteTable`, for the ranks.
    fileprivate func overlap(with other: RouteSettings) -> String? {
        guard matchesByTarget, other.matchesByTarget, host == other.host, pathPrefix == other.pathPrefix else { return nil }
        let place = "host \(host.map { Codec.hostPattern.write($0).text } ?? "null"), pathPrefix \(JSONValue.text(pathPrefix).text)"
        switch (methods, other.methods) {
        case (nil, nil): return place
        case (let own?, let others?):
            let shared = Set(own).intersection(others).sorted()
            return shared.isEmpty ? nil : "\(place), methods \(shared.joined(separator: " "))"
        case (nil, _), (_, nil): return nil
        }
    }

    /// Whether the route can match by the target of a request. A route with an upstream and without a host is reached only by its
    /// base URL, which contains the name of the route.
    private var matchesByTarget: Bool { host != nil || upstream == nil }
}

extension Assembly {
    /// Warns of credential fields that `store.encryptFields` does not list: their values are stored unencrypted.
    ///
    /// A list replaces the whole default list. The default also encrypts the fields that routes set or add.
    mutating func warnOfPlainSecrets() {
        guard let listed = settings.store.listedFields else { return }
        let names = listed.map { $0.lowercased() }
        var plain = CredentialFields.sealedByDefault
        let known = Set(plain.map { $0.lowercased() })
        let written = Set(routes.values.flatMap { Array($0.setFields.keys) + Array($0.addFields.keys) }).sorted()
        // `Idempotency-Key` proves nothing.
        plain += written.filter { name in
            CredentialFields.mayBeOne(name) && !known.contains(name.lowercased()) && name.lowercased() != "idempotency-key"
        }
        plain = plain.filter { !names.contains($0.lowercased()) }
        guard !plain.isEmpty else { return }
        warnings.append(
            "store.encryptFields: does not list \(plain.enumeration), so these credentials are stored "
                + "unencrypted.")
    }
}

extension Assembly {
    /// Refuses settings of notifications that would fail at the first incident.
    mutating func checkNotifications() {
        let notify = settings.notify
        if let secret = notify.secret {
            if secret.signingKey == nil {
                refuse(Self.key("secret"), "what follows whsec_ must be base64 of at least one byte")
            } else if notify.webhook == nil {
                warnings.append("notify.secret: it signs nothing without notify.webhook")
            }
        }
        guard let command = notify.command else { return }
        guard let program = command.first else { return refuse(Self.key("command"), "it has to begin with a program") }
        if ProgramFile.path(of: program.revealed) == nil {
            refuse(Self.key("command"), "its program is not an executable file, and not found in PATH either")
        }
    }

    private static func key(_ name: String) -> KeyAddress { KeyAddress(section: .global, key: ["notify", name]) }
}

extension NotifySettings {
    /// The webhook of notifications. Nil: there is no webhook, or its URL was refused.
    var route: Webhook? {
        guard let webhook, let url = try? WebAddress.parse(webhook.revealed) else { return nil }
        let target = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?" + $0 } ?? "")
        return Webhook(origin: Origin(scheme: url.scheme, host: url.host, port: url.port), target: Secret(target), key: secret?.signingKey)
    }
}

extension Secret {
    /// The signing key in this secret: what follows `whsec_` is base64 (Standard Webhooks), any other text is the key itself. Nil: the
    /// text cannot be decoded, or is empty.
    fileprivate var signingKey: Webhook.SigningKey? {
        let prefix = "whsec_"
        let encoded = revealed.hasPrefix(prefix) ? String(revealed.dropFirst(prefix.count)) : nil
        let bytes = encoded.map { Data(base64Encoded: $0).map(Array.init) } ?? Array(revealed.utf8)
        guard let bytes, !bytes.isEmpty else { return nil }
        return Webhook.SigningKey(bytes)
    }
}

/// The file of a program that is named as in a shell.
package enum ProgramFile {
    /// The path of the executable file; nil if there is no such file.
    ///
    /// - Parameter name: A path, or a name without a slash that is looked for in `PATH`.
    package static func path(of name: String, environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        if name.contains("/") { return isExecutable(name) ? name : nil }
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first(where: isExecutable)
    }

    private static func isExecutable(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        let manager = FileManager.default
        return manager.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue && manager.isExecutableFile(atPath: path)
    }
}
