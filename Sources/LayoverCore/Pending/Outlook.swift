/// What an entry waits for and when it goes: what depends on other entries, on its origin and on the time.
struct Outlook: Sendable {
    var waitingFor: WaitReason?
    var nextAttemptAt: Timestamp?
    var willGo: WillGo?
    var waitingOn: EntryID?
    var progress: AttemptProgress?
    var shutParentProxyGate: Origin?
}

extension Entry {
    package var waitingFor: WaitReason? { outlook?.waitingFor }
    /// When it goes by itself, if nothing else happens before. Nil: not while things stand as they are.
    package var nextAttemptAt: Timestamp? { outlook?.nextAttemptAt }
    /// When the attempt that a person asked for is made.
    package var willGo: WillGo? { outlook?.willGo }
    /// The entry that has to be done before it.
    package var waitingOn: EntryID? { outlook?.waitingOn }
    /// Its parent proxy, if that cannot be reached.
    package var shutParentProxyGate: Origin? { outlook?.shutParentProxyGate }
    /// How far the attempt under way has got; nil where it is not known.
    package var progress: AttemptProgress? {
        get { outlook?.progress }
        set {
            var changed = outlook ?? Outlook()
            changed.progress = newValue
            outlook = changed
        }
    }
}
