import Foundation

/// What this process was given by its caller and a command that it starts is to get in turn: signals and descriptors.
///
/// What has been changed or opened here is no business of the command: NIO ignores SIGPIPE for the whole process, and leaves its
/// descriptors of epoll(7) open for children.
struct Inheritance: Sendable {
    /// The signals in their default disposition.
    private let defaults: [Int32]
    private let descriptors: Set<Int32>

    /// Before anything has been changed.
    init() {
        defaults = (1...Self.highestSignal).filter { number in
            var found = sigaction()
            return sigaction(number, nil, &found) == 0 && found.__sigaction_handler.sa_handler == nil
        }
        descriptors = Set(Self.openDescriptors())
    }

    /// Real-time signals included (signal(7)).
    private static let highestSignal: Int32 = 64

    private static func openDescriptors() -> [Int32] {
        // The listing has a descriptor of its own, which is closed by now.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { fcntl($0, F_GETFD) >= 0 }
    }

    /// The signals in their default disposition. What was ignored before, as by nohup(1), stays ignored.
    var defaultSignals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in defaults { sigaddset(&set, number) }
        return set
    }

    func isDefault(_ number: Int32) -> Bool { defaults.contains(number) }

    /// Closes what was opened here in a program that is started from now on. Right before it is, while no other thread opens anything.
    func closeOwnDescriptorsOnExec() {
        for descriptor in Self.openDescriptors() where !descriptors.contains(descriptor) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }

    /// Runs `body`, which starts a program that gets nothing but what it is given.
    func closingAllOnExec<Value>(_ body: () throws(SpawnFailure) -> Value) throws(SpawnFailure) -> Value {
        closeOwnDescriptorsOnExec()
        let open = descriptors.filter { $0 > STDERR_FILENO }.map { ($0, flags: fcntl($0, F_GETFD)) }
        for (descriptor, flags) in open { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
        defer { for (descriptor, flags) in open { _ = fcntl(descriptor, F_SETFD, flags) } }
        return try body()
    }

    /// For a program that takes this process's place.
    func restore() {
        for number in defaults where number != SIGKILL && number != SIGSTOP { signal(number, SIG_DFL) }
        closeOwnDescriptorsOnExec()
    }
}
