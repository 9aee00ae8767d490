import Glibc

/// A network namespace made by `ip netns` (network_namespaces(7)).
package enum NetworkNamespace {
    /// Swift's Glibc module does not show setns(2), so it is looked up by name.
    private typealias Setns = @convention(c) (_ descriptor: Int32, _ kind: Int32) -> Int32
    /// CLONE_NEWNET of <linux/sched.h>.
    private static let networkKind: Int32 = 0x4000_0000

    /// Moves the calling thread into the namespace. Sockets it makes from now on belong there.
    package static func enter(_ name: String) throws {
        guard let symbol = dlsym(nil, "setns") else { throw ProcessError("This system has no setns(2).") }
        let descriptor = open("/run/netns/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ProcessError("There is no namespace \(name): errno \(errno).") }
        defer { close(descriptor) }
        guard unsafeBitCast(symbol, to: Setns.self)(descriptor, networkKind) == 0 else {
            throw ProcessError("Cannot enter namespace \(name): errno \(errno).")
        }
    }
}
