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
