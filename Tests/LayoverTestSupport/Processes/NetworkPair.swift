import Foundation
import Glibc

/// Two network namespaces joined by a cable: a veth pair (veth(4)). Pulling the cable is a real outage.
package final class NetworkPair: Sendable {
    package enum Side: String, Sendable, CaseIterable {
        /// The side of the proxy and its clients.
        case near
        /// The side of the origin.
        case far
    }

    package static let farAddress = "10.213.7.2"
    private let tag: String

    /// Makes both namespaces with the link up. Needs the right to administer the network.
    package init() async throws {
        tag = String(UInt32.random(in: .min ... .max), radix: 36)
        do {
            try await ip("netns", "add", name(.near))
            try await ip("netns", "add", name(.far))
            try await ip("link", "add", "wire", "netns", name(.near), "type", "veth", "peer", "name", "wire", "netns", name(.far))
            for (side, address) in [(Side.near, "10.213.7.1/24"), (.far, "\(Self.farAddress)/24")] {
                try await ip("-n", name(side), "address", "add", address, "dev", "wire")
                try await ip("-n", name(side), "link", "set", "lo", "up")
                try await ip("-n", name(side), "link", "set", "wire", "up")
            }
        } catch {
            await remove()
            throw error
        }
    }

    /// Makes both namespaces for a test and takes them away behind it.
    package static func with<Value>(_ test: (NetworkPair) async throws -> Value) async throws -> Value {
        let network = try await NetworkPair()
        return try await ending({ await network.remove() }, after: { try await test(network) })
    }

    package func name(_ side: Side) -> String { "layover-\(tag)-\(side.rawValue)" }

    package func link(_ side: Side, up: Bool) async throws {
        try await ip("-n", name(side), "link", "set", "wire", up ? "up" : "down")
    }

    /// Takes the address of the near side away. The link stays up.
    package func removeNearAddress() async throws {
        try await ip("-n", name(.near), "address", "del", "10.213.7.1/24", "dev", "wire")
    }

    /// Takes both namespaces away. A process that still runs in one keeps it alive without a name.
    package func remove() async {
        for side in Side.allCases {
            _ = try? await Command("ip", ["netns", "delete", name(side)]).run()
            NamespaceFiles.remove(of: name(side))
        }
    }

    /// The kernel's error if this process may not make namespaces; nil if it may.
    package static func refusal() async -> String? {
        let name = "layover-try-\(UInt32.random(in: .min ... .max))"
        guard let made = try? await Command("ip", ["netns", "add", name]).run() else { return "`ip` cannot be run" }
        guard made.status == 0 else { return made.errors }
        // Entering one needs more rights than naming one.
        let entered = try? await Command("true").within(name).run()
        _ = try? await Command("ip", ["netns", "delete", name]).run()
        return entered?.status == 0 ? nil : entered?.errors ?? "`ip netns exec` cannot be run"
    }

    /// True if this process may make namespaces. If not, it prints that a test is skipped.
    package static func isPermitted(orSkip what: String) async -> Bool {
        guard let refusal = await refusal() else { return true }
        print("SKIPPED: \(what), this process may not make network namespaces: \(refusal)")
        return false
    }

    private func ip(_ words: String...) async throws {
        try await Command("ip", words).succeed()
    }
}

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

/// Files that a network namespace has in place of those in `/etc`: `ip netns exec` mounts what lies in
/// `/etc/netns/NAME` over them (ip-netns(8)).
package enum NamespaceFiles {
    private static let root = URL(fileURLWithPath: "/etc/netns")

    /// Has the programs that are started in the namespace from now on ask one name server, and no other source.
    package static func setNameServer(_ address: String, of namespace: String) throws {
        let folder = root.appendingPathComponent(namespace)
        try make(folder)
        // A silent server is given up after six seconds and not after ten (resolv.conf(5)): a busy machine may delay its process, and
        // `timeouts.connect` is longer.
        let text = "nameserver \(address)\noptions timeout:3 attempts:2\n"
        try Data(text.utf8).write(to: folder.appendingPathComponent("resolv.conf"))
        // The machine's own may ask a service that lives outside of the namespace. Where there is none, the C library
        // does by itself what this says, and there is nothing to mount over.
        guard FileManager.default.fileExists(atPath: "/etc/nsswitch.conf") else { return }
        try Data("hosts: files dns\n".utf8).write(to: folder.appendingPathComponent("nsswitch.conf"))
    }

    /// Another process may remove the folder of all namespaces between two steps, because nothing is in it yet.
    private static func make(_ folder: URL) throws {
        for _ in 1..<100 {
            if (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil { return }
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Removes what belongs to the namespace, and the folder of all namespaces if nothing else is in it.
    package static func remove(of namespace: String) {
        guard (try? FileManager.default.removeItem(at: root.appendingPathComponent(namespace))) != nil else { return }
        // Fails, as it should, while another namespace has files.
        rmdir(root.path)
    }
}
