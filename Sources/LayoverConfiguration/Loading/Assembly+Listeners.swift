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
