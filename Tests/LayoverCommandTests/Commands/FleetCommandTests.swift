import LayoverAdmin
import LayoverTestSupport
import Testing

@testable import layover

struct FleetCommandTests {
    @Test func singleInstanceShowsItself() async throws {
        try await LiveAdmin.with { admin in
            for arguments in [[], ["--json"]] { try await run(["fleet"] + arguments + ["--admin-url", admin.url]) }
            let response = try await admin.client().send(AdminCall("/v1/fleet"))
            let instances = try response.decoded(ListDocument<FleetDocument>.self).data
            #expect(instances.map(\.state) == ["active"])
            let lines = FleetTable(instances: instances).lines(.standardOutput())
            #expect(lines.count == 2 && lines[0].hasPrefix("ID") && lines[1].contains(LayoverVersion.current), "\(lines)")
        }
    }
}
