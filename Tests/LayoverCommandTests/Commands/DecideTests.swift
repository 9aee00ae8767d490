import LayoverCore
import LayoverEngine
import Testing

@testable import layover

/// `layover decide`: questions for each request that needs a person.
struct DecideTests {
    /// - Parameter answers: Lines that the person types; then the input ends.
    private func walk(_ admin: LiveAdmin, _ answers: String...) async throws -> (told: [String], asked: [String]) {
        var (told, asked): ([String], [String]) = ([], [])
        var rest = answers[...]
        let walk = DecisionWalk(
            client: try admin.client(), reason: "asked the shop", tell: { told.append($0) },
            ask: { question in
                asked.append(question)
                return rest.popFirst()
            })
        try await walk.run()
        return (told, asked)
    }

    @Test(.liveAdmin) func nothingToDecideIsSaid() async throws {
        _ = admin.park(0xa)
        #expect(try await walk(admin).told == ["no request needs a decision"])
    }

    @Test(.liveAdmin) func eachRequestGetsItsDecision() async throws {
        let ids = (1...4).map { admin.parkUndecided($0) }
        let (told, asked) = try await walk(admin, "", "settle", "d", "nonsense", "f", "duplicate-risk")
        #expect(told.first?.hasPrefix("1 of 4: ") == true)
        #expect(told.contains { $0.contains("may have processed") }, "\(told)")
        #expect(asked.first?.contains("retry") == false, "it cannot be sent without force")
        #expect(told.contains("  please write one of the words, or its first letter"))
        var states: [EntryState?] = []
        for id in ids { states.append(await admin.engine.entry(id)?.state) }
        #expect(states == [.undecided, .delivered, .cancelled, .attempting])
        #expect(await admin.engine.entry(ids[2])?.lastCommand?.reason == "asked the shop")
    }

    @Test(.liveAdmin) func forceNeedsTheTypedWordsAndTheEndOfTheInputEnds() async throws {
        let ids = (1...2).map { admin.parkUndecided($0) }
        let (told, _) = try await walk(admin, "force", "yes")
        #expect(told.contains("  nothing was done"))
        for id in ids { #expect(await admin.engine.entry(id)?.state == .undecided) }
        #expect(try await walk(admin, "quit").told.count == 2)
    }
}
