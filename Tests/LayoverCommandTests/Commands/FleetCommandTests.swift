import LayoverAdmin
import LayoverTestSupport
import Testing

@testable import layover

struct FleetCommandTests {
    @Test(.liveAdmin) func singleInstanceShowsItself() async throws {
        for arguments in [[], ["--json"]] { try await run(["fleet"] + arguments + ["--admin-url", admin.url]) }
        let instances = try await (admin.get("/v1/fleet") as ListDocument<FleetDocument>).data
        #expect(instances.map(\.state) == ["active"])
        let lines = FleetTable(instances: instances).lines(.standardOutput())
        #expect(lines.count == 2 && lines[0].hasPrefix("ID") && lines[1].contains(LayoverVersion.current), "\(lines)")
    }
}
