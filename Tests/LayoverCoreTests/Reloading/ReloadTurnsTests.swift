import Testing

@testable import LayoverCore

@Suite struct ReloadTurnsTests {
    private var turns = ReloadTurns()

    @Test mutating func theFirstReloadBegins() {
        let turn = turns.asked()
        #expect(turn == .begins)
        let isNextBegun = turns.ended()
        #expect(!isNextBegun)
        #expect(turns == ReloadTurns())
    }

    @Test mutating func reloadRequestedDuringAnotherWaitsForItsTurn() {
        let asked = [turns.asked(), turns.asked(), turns.asked()]
        #expect(asked == [.begins, .waits, .waits])
        let isNextBegun = turns.ended()
        #expect(isNextBegun)
        let late = turns.asked()
        #expect(late == .waits)
        let ends = [turns.ended(), turns.ended(), turns.ended()]
        #expect(ends == [true, true, false])
        let next = turns.asked()
        #expect(next == .begins)
    }
}
