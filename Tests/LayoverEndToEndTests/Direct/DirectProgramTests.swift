import LayoverTestSupport
import Testing

extension EndToEnd.Direct {
    /// Programs that run at the same time, each with origins of its own.
    private static let laneCount = 3

    @Test func programsSeeTheSameByLayover() async throws {
        let rig = try await DirectRig()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<Self.laneCount {
                group.addTask {
                    let lane = try await DirectLane(rig)
                    for (index, program) in DirectProgram.all.enumerated() where index % Self.laneCount == number {
                        try await Self.play(program, on: lane)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func play(_ program: DirectProgram, on lane: DirectLane) async throws {
        for way in program.ways {
            let direct = try await lane.run(program, way, nil)
            #expect(direct.contains { $0.hasPrefix("client: ended with 0") }, "\(program) works without a proxy: \(direct)")
            let found = try await lane.run(program, way, .layover)
            #expect(found == direct, "\(program), \(way)")
        }
    }
}
