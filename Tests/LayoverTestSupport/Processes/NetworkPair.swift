import Foundation

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

    private func ip(_ words: String...) async throws {
        try await Command("ip", words).succeed()
    }
}
