/// What a newly loaded configuration changes, and when each change takes effect.
///
/// Both lists are dotted paths, sorted. A policy or a route that came or went is named as a whole:
/// `routes.api`. A policy that inherits a changed key is listed too, because its rules change.
package struct ConfigurationChanges: Sendable, Hashable {
    /// Takes effect with the reload: policies, routes, the timeouts of attempts, the log level.
    package let atOnce: [String]
    /// Stays as it was until the process starts anew.
    package let afterRestart: [String]

    /// Whether both configurations say the same.
    package var isEmpty: Bool { atOnce.isEmpty && afterRestart.isEmpty }

    init(_ changes: [(path: String, effect: ReloadEffect)]) {
        func paths(_ effect: ReloadEffect) -> [String] {
            changes.filter { $0.effect == effect }.map(\.path).sorted()
        }
        atOnce = paths(.atOnce)
        afterRestart = paths(.afterRestart)
    }
}
