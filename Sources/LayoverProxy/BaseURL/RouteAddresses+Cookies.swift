/// `Set-Cookie` (RFC 6265 section 5): all routes share the proxy's host, so only its path keeps a cookie with its route.
extension RouteAddresses {
    /// A cookie as the client is to have it: for this route only.
    ///
    /// - `Domain` is removed. A cookie whose `Domain` does not cover the upstream's host is dropped: no client would accept it.
    /// - `Path`, or its default, becomes the path at the proxy. A cookie for a part of the origin that the route does not reach is
    ///   dropped.
    /// - `Secure` is removed if the client reaches the proxy by http. So are `Partitioned` and `SameSite=None`, which browsers accept only
    ///   with `Secure`. Cookies whose names promise it (`__Secure-`, `__Host-`) keep all three.
    ///
    /// - Returns: Nil: the cookie is not passed on.
    func cookie(_ value: [UInt8]) -> [UInt8]? {
        let parts = value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let keepsSecure = isSecure || Self.promisesSecure(parts[0])
        var kept: [ArraySlice<UInt8>] = [parts[0]]
        var path: [UInt8]?
        var domain = ""
        for part in parts.dropFirst() {
            let (name, value) = Self.attribute(part)
            switch name {
            // The last one counts (section 5.3).
            case "domain": domain = value.isEmpty ? domain : value
            case "path": path = value.hasPrefix("/") ? Array(value.utf8) : nil
            case "secure" where !keepsSecure, "partitioned" where !keepsSecure: break
            case "samesite" where !keepsSecure && value.lowercased() == "none": break
            default: kept.append(part)
            }
        }
        guard covers(domain), let place = placed(path ?? defaultPath) else { return nil }
        return Array(kept.joined(separator: [UInt8(ascii: ";")])) + Array("; Path=".utf8) + place
    }

    private static func attribute(_ part: ArraySlice<UInt8>) -> (name: String, value: String) {
        let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let texts = halves.map { String(decoding: $0.withoutOuterSpace, as: UTF8.self) }
        return (texts[0].lowercased(), texts.count > 1 ? texts[1] : "")
    }

    private static func promisesSecure(_ pair: ArraySlice<UInt8>) -> Bool {
        let name = attribute(pair).name
        return name.hasPrefix("__secure-") || name.hasPrefix("__host-")
    }

    /// Section 5.1.3. An empty domain is none.
    private func covers(_ domain: String) -> Bool {
        let domain = (domain.hasPrefix(".") ? String(domain.dropFirst()) : domain).lowercased()
        return domain.isEmpty || host == domain || host.hasSuffix("." + domain)
    }

    /// Section 5.1.4: the folder of the resource.
    private var defaultPath: [UInt8] {
        guard let slash = resourcePath.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return [UInt8(ascii: "/")] }
        return Array(resourcePath[..<slash])
    }

    /// A path of the origin at the proxy: all of the route where the path covers all of it. Nil: the route does not reach the path.
    private func placed(_ path: [UInt8]) -> [UInt8]? {
        if path.starts(with: basePath) {
            let rest = path.dropFirst(basePath.count)
            if rest.isEmpty || rest.elementsEqual("/".utf8) && basePath.isEmpty { return place }
            if rest.first == UInt8(ascii: "/") { return place + rest }
        }
        let isAbove = basePath.starts(with: path) && (path.last == UInt8(ascii: "/") || basePath[path.count] == UInt8(ascii: "/"))
        return isAbove ? place : nil
    }
}
