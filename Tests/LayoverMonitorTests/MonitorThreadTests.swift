import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverMonitor

@Suite(.serialized) struct MonitorThreadTests {
    @Test func anOutageAndItsEndAreReported() async throws {
        try await withNetwork { pair in
            let monitor = try await RunningMonitor(in: pair)
            try await monitor.links("the first picture") { $0.isUsable }
            try await pair.link(.near, up: false)
            try await monitor.links("the link going down") { !$0.isUsable }
            try await pair.link(.near, up: true)
            try await monitor.links("the link coming up") { $0.isUsable }
            try await pair.near("route", "add", "default", "via", NetworkPair.farAddress)
            try await monitor.links("the default route") { $0.hasDefaultRoute }
            try await monitor.stop()
        }
    }

    @Test func theSamePictureIsNotReportedTwice() async throws {
        try await withNetwork { pair in
            let monitor = try await RunningMonitor(in: pair)
            try await monitor.links("the first picture") { $0.isUsable }
            // A name is news to the table and none to an attempt's way: the link has no address.
            try await pair.near("link", "add", "loose", "type", "veth", "peer", "name", "end")
            try await pair.near("address", "add", "192.0.2.7/24", "dev", "wire")
            let next = try await monitor.fact("the next picture") { _ in true }
            guard case .links(let snapshot) = next else {
                Issue.record("\(next)")
                return
            }
            #expect(snapshot.links.map(\.addresses) == [["10.213.7.1/24", "192.0.2.7/24"]])
            try await monitor.stop()
        }
    }

    @Test func aChangeOfTheResolverIsReported() async throws {
        try await withNetwork { pair in
            let folder = try TemporaryFolder()
            let path = try folder.write("nameserver 192.0.2.53\n", to: "resolv.conf")
            let monitor = try await RunningMonitor(in: pair, resolverPath: path)
            try await monitor.links("the first picture") { _ in true }
            try folder.write("nameserver 192.0.2.54\n", to: "resolv.conf")
            try await monitor.fact("the resolver") { $0 == .resolverChanged }
            try await monitor.stop()
        }
    }

    @Test func linksAreWatchedWithoutTheResolversFolder() async throws {
        try await withNetwork { pair in
            let monitor = try await RunningMonitor(in: pair, resolverPath: "/nonexistent/folder/resolv.conf")
            try await monitor.links("the first picture") { $0.isUsable }
            try await monitor.stop()
        }
    }
}
