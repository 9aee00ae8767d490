import Foundation

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
