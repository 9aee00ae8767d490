import LayoverTestSupport
import Testing

extension EndToEnd {
    @Suite(.bothPaths) struct BrokenBody {
        /// The head has been delivered, so there is no going back: the client must see that the body is not whole.
        @Test func clientSeesABrokenBodyWhenItsOriginIsKilled() async throws {
            let scene = try await Scene()
            let origin = try await scene.startOrigin()
            let client = try scene.layover.curl(scene.url("/stalled/1000000")).start()
            _ = try await origin.waitForRecord("half of the body was sent") { $0.event == "stalled" }
            await origin.kill()
            let result = await client.result()

            // curl's code 18 (partial file), or 56 (receive error) where the end was a reset.
            #expect([18, 56].contains(result.status), "\(result)")
            #expect(result.output.utf8.count < 1_000_000)
        }
    }
}
