import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// What the command line prints and how it exits, for people and for scripts.
    @Suite struct CommandLineAnswers {
        // MARK: Ids

        @Test func prefixOfAnIDFindsAnEndedRequestAlsoAfterARestart() async throws {
            let scene = try await Scene(RunningLayover.noTimedRetries)
            let origin = try await scene.startOrigin()
            let ticket = try await scene.submit("/echo")
            #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered")
            let id = try await scene.layover.entry(of: ticket)
            for prefix in [id.prefix(12), id.prefix(5)] {
                let shown = try await scene.layover.command("show", String(prefix)).run()
                #expect(shown.status == 0 && shown.output.contains(id), "\(shown)")
            }
            await scene.layover.stop()
            let again = try await scene.restarted()
            for command in ["show", "explain"] {
                let shown = try await again.layover.command(command, String(id.prefix(12))).run()
                #expect(shown.status == 0 && shown.output.contains(id), "\(shown)")
            }
            #expect(origin.records.isEmpty == false)
        }
    }
}
