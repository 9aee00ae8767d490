import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverMonitor

/// On the kernel's own routing tables. Netlink tells within the system call that changed them, so that
/// a read after `ip` has ended sees all of it.
@Suite(.serialized) struct LinkWatchTests {
    private static let gateway = "10.213.7.2"

    /// A watch that has read its first picture, with a default route in it if there is to be one.
    private func withWatch(
        hasRoute: Bool = false, byteCountMax: Int32? = nil,
        _ body: @Sendable (NetworkPair, TestedLinkWatch, LinkSnapshot) async throws -> Void
    ) async throws {
        try await withNetwork { pair in
            if hasRoute { try await pair.near("route", "add", "default", "via", Self.gateway) }
            let watch = try await TestedLinkWatch(pair, byteCountMax: byteCountMax)
            let first = try #require(try await watch.read())
            try await body(pair, watch, first)
        }
    }

    @Test func theFirstPictureIsWhole() async throws {
        try await withWatch(hasRoute: true) { _, watch, snapshot async throws in
            #expect(snapshot.links.map(\.name) == ["wire"])
            #expect(snapshot.links.first?.addresses == ["10.213.7.1/24"])
            #expect(snapshot.defaultRoutes.map(\.gateway) == [Self.gateway])
            #expect(snapshot.defaultRoutes.first?.linkIndex == snapshot.links.first?.index)
            #expect(try await watch.read() == nil)
        }
    }

    @Test func aCableThatIsPulledAtTheOtherEndCounts() async throws {
        try await withWatch { pair, watch, _ in
            try await pair.link(.far, up: false)
            // Carrier is told a moment later, by the kernel's own link watch.
            var snapshot: LinkSnapshot?
            let deadline = Deadline(in: .seconds(60))
            while snapshot?.isUsable != false, !deadline.hasPassed { snapshot = try await watch.read() ?? snapshot }
            #expect(snapshot?.isUsable == false)
        }
    }

    @Test func addressesComeAndGo() async throws {
        try await withWatch { pair, watch, _ in
            try await pair.near("address", "add", "192.0.2.7/24", "dev", "wire")
            #expect(try await watch.read()?.links.first?.addresses == ["10.213.7.1/24", "192.0.2.7/24"])
            try await pair.near("-6", "address", "add", "2001:db8::7/64", "dev", "wire", "nodad")
            #expect(try await watch.read()?.links.first?.addresses.contains("2001:db8::7/64") == true)
            try await pair.near("address", "flush", "dev", "wire")
            #expect(try await watch.read()?.isUsable == false)
        }
    }

    /// The kernel deletes the IPv4 routes of a link that goes down without telling. Were the old route
    /// still believed, its return would be no news.
    @Test func aRouteThatWentAwaySilentlyIsNewsWhenItReturns() async throws {
        try await withWatch(hasRoute: true) { pair, watch, before in
            try await pair.link(.near, up: false)
            #expect(try await watch.read()?.isUsable == false)
            try await pair.link(.near, up: true)
            let up = try #require(try await watch.read())
            #expect(up.links == before.links && up.isUsable)
            #expect(!up.hasDefaultRoute)
            try await pair.near("route", "add", "default", "via", Self.gateway)
            #expect(try await watch.read() == before)
        }
    }

    @Test func aRouteThatIsReplacedIsNotThereTwice() async throws {
        try await withWatch(hasRoute: true) { pair, watch, before in
            try await pair.near("route", "replace", "default", "via", "10.213.7.3")
            #expect(try await watch.read()?.defaultRoutes.map(\.gateway) == ["10.213.7.3"])
            try await pair.near("route", "replace", "default", "via", Self.gateway)
            #expect(try await watch.read() == before)
        }
    }

    @Test func routesThatAreNotDefaultAreNoNews() async throws {
        try await withWatch { pair, watch, _ in
            try await pair.near("route", "add", "192.0.2.0/24", "via", Self.gateway)
            try await pair.near("route", "add", "unreachable", "default", "metric", "4000")
            #expect(try await watch.read() == nil)
        }
    }

    @Test func aLinkThatLeavesABridgeIsStillThere() async throws {
        try await withWatch { pair, watch, before in
            try await pair.near("link", "add", "span", "type", "bridge")
            try await pair.near("link", "set", "wire", "master", "span")
            try await pair.near("link", "set", "wire", "nomaster")
            let after = try await watch.read() ?? before
            #expect(after == before)
        }
    }

    @Test func anOverflowIsMadeGoodByANewPicture() async throws {
        try await withWatch(byteCountMax: 1) { pair, watch, _ in
            // Far more than the smallest buffer (2 304 bytes) holds, told while nobody reads.
            let addresses = (1...120).map { "192.0.2.\($0)/32" }
            let folder = try TemporaryFolder()
            let batch = try folder.write(
                addresses.map { "address add \($0) dev wire\n" }.joined(), to: "batch")
            try await pair.near("-batch", batch)
            let snapshot = try #require(try await watch.read())
            #expect(snapshot.links.first?.addresses == (addresses + ["10.213.7.1/24"]).sorted())
            #expect(try await watch.read() == nil)
        }
    }
}
