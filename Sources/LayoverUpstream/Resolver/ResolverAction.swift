/// What follows from a fact that `ResolverMachine` was told.
enum ResolverAction: Equatable {
    /// Begin a lookup on a thread of its own.
    case start(lookup: UInt64, name: String)
    /// Tell each of the askers.
    case deliver(NameAnswer, name: String, to: [ResolverMachine.Asker])
}
