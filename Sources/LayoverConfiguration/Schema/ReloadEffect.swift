/// When a key that was changed by a reload takes effect.
enum ReloadEffect: Sendable, CaseIterable {
    /// For every request that begins afterwards, and for those that wait.
    case atOnce
    /// Not before the process starts anew: a listener, a limit or a folder that is in use.
    case afterRestart
}
