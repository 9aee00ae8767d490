import Foundation
import LayoverConfiguration

/// The folders that the environment names for state, for run-time files and for the configuration: those of a systemd
/// service first, then those of the user.
///
/// The current folder is none of them: a proxy that is started elsewhere has to find its accepted tickets again.
///
/// - SeeAlso: systemd.exec(5), `StateDirectory=`; the XDG Base Directory Specification.
struct StateFolders: Sendable, Hashable {
    /// The folder of a store whose `store.path` is null. Nil: the environment names no folder, not even a home folder.
    let state: String?
    /// The folder of the files that a running instance keeps, if it can be used. Nil: the environment names no folder.
    let runtime: String?
    /// Where the files of a running instance are looked for, the first place first.
    let instanceFolders: [String]
    /// Where a configuration file is looked for if none is named, the first place first.
    let configurationFiles: [String]

    init(environment: [String: String]) {
        // Relative paths are to be ignored (XDG Base Directory Specification), and so are empty ones.
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        // systemd separates several folders by colons; the first one is as good as any other.
        func first(_ name: String) -> String? { absolute(name)?.split(separator: ":").first.map(String.init) }
        let home = absolute("HOME")
        let ofState = absolute("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" }
        let states = [first("STATE_DIRECTORY"), ofState.map { $0 + "/layover" }].compactMap(\.self)
        let runtimes = [first("RUNTIME_DIRECTORY"), absolute("XDG_RUNTIME_DIR").map { $0 + "/layover" }].compactMap(\.self)
        state = states.first
        runtime = runtimes.first
        instanceFolders = runtimes + states
        let ofUser = absolute("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
        configurationFiles = [ofUser.map { $0 + "/layover/config.json" }, "/etc/layover/config.json"].compactMap { $0 }
    }

    /// The first configuration file that exists. One that exists and cannot be read is found too, so that it is an error.
    func findConfiguration() -> String? { configurationFiles.first { access($0, F_OK) == 0 } }

    /// The folder of `admin-token` and `ports.json`: `runtime`, made if it is missing, or the folder of the store.
    ///
    /// A folder of another user is not used: after `su`, `$XDG_RUNTIME_DIR` may still be that of the user before.
    func makeInstanceFolder(store: String) -> String {
        guard let runtime else { return store }
        if access(runtime, F_OK) != 0, isOwn((runtime as NSString).deletingLastPathComponent) { mkdir(runtime, 0o700) }
        return isOwn(runtime) && access(runtime, W_OK | X_OK) == 0 ? runtime : store
    }

    private func isOwn(_ folder: String) -> Bool {
        // For a dynamic user, systemd makes a link of root's to the folder.
        let path = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        let owner = (try? FileManager.default.attributesOfItem(atPath: path))?[.ownerAccountID] as? NSNumber
        return owner?.uint32Value == geteuid()
    }

    /// Where the store of a configuration lies.
    ///
    /// Before `store.path` could be null, a store was beside the configuration file that was named, or else in the current
    /// folder. One that is still there is used, because tickets in it were accepted, and a warning names both places.
    func place(_ loaded: LoadedConfiguration, isFileNamed: Bool) -> LoadedConfiguration {
        let store = loaded.settings.store
        guard store.path == nil, let state else { return loaded }
        let current = FileManager.default.currentDirectoryPath
        let former = [store.folder.isEmpty ? current : store.folder] + (isFileNamed ? [] : [current])
        let found = former.first { !isSame($0, state) && access($0 + "/" + StoreSettings.fileName, F_OK) == 0 }
        guard let found else { return loaded.storing(in: state) }
        let name = StoreSettings.fileName
        return loaded.storing(in: found).warning(
            "store.path: the store \(found)/\(name) is used, because it exists; the default place is \(state)/\(name). Set "
                + "store.path, or move the files of the store there while Layover is stopped.")
    }

    private func isSame(_ one: String, _ other: String) -> Bool {
        func resolved(_ folder: String) -> String { URL(fileURLWithPath: folder).resolvingSymlinksInPath().path }
        return resolved(one) == resolved(other)
    }
}
