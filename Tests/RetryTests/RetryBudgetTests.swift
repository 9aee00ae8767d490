import Retry
import Testing

struct RetryBudgetTests {
    @Test func theMinimumIsAlwaysUnderWayAndNoMore() {
        var budget = RetryBudget(ratio: 0, minimum: 3)
        for _ in 1...3 { #expect(budget.retryRequested() == .minimum) }
        #expect(budget.retryRequested() == nil)
        budget.retryEnded(.minimum)
        #expect(budget.minimumInUse == 2)
        #expect(budget.retryRequested() == .minimum)
        budget.retryAbandoned(.minimum)
        #expect(budget.retryRequested() == .minimum)
    }

    @Test(arguments: [(0.2, 5), (0.1, 10), (1, 1), (0.333, 4), (0.001, 1000)])
    func operationsEarnTokensByTheRatio(ratio: Double, operationCount: Int) {
        var budget = RetryBudget(ratio: ratio, minimum: 0)
        for _ in 1..<max(2, operationCount) {
            if operationCount > 1 { budget.operationStarted() }
            #expect(budget.tokenCount == 0)
        }
        budget.operationStarted()
        #expect(budget.tokenCount == 1)
        #expect(budget.retryRequested() == .token)
        #expect(budget.retryRequested() == nil)
    }

    @Test func otherBoundsLeaveWhatIsUnderWayAndWhatWasEarned() {
        var budget = RetryBudget(ratio: 1, minimum: 2)
        budget.operationStarted()
        for _ in 1...2 { #expect(budget.retryRequested() == .minimum) }
        budget.limit(ratio: 0, minimum: 1)
        budget.operationStarted()
        #expect(budget.minimumInUse == 2)
        #expect(budget.availableCount == 1)
        #expect(budget.retryRequested() == .token)
        #expect(budget.retryRequested() == nil)
        budget.limit(ratio: 0, minimum: 3)
        #expect(budget.availableCount == 1)
    }

    @Test func tokensAreSpentForGoodUnlessTheRetryIsAbandoned() {
        var budget = RetryBudget(ratio: 1, minimum: 0)
        budget.operationStarted()
        #expect(budget.retryRequested() == .token)
        budget.retryEnded(.token)
        #expect(budget.tokenCount == 0)
        budget.retryAbandoned(.token)
        #expect(budget.tokenCount == 1)
    }

    @Test func tokensAreLimited() {
        var budget = RetryBudget(ratio: 1, minimum: 0, tokenCountMax: 2)
        for _ in 1...50 { budget.operationStarted() }
        #expect(budget.tokenCount == 2)
        budget.retryAbandoned(.token)
        #expect(budget.tokenCount == 2)
    }

    @Test(arguments: [-1, Double.nan, -Double.infinity, 0])
    func invalidRatiosEarnNothing(ratio: Double) {
        var budget = RetryBudget(ratio: ratio, minimum: -3, tokenCountMax: .max)
        for _ in 1...10 { budget.operationStarted() }
        #expect(budget.tokenCount == 0)
        #expect(budget.retryRequested() == nil)
        budget.retryEnded(.minimum)
        #expect(budget.minimumInUse == 0)
    }

    @Test func hugeNumbersDoNotOverflow() {
        var budget = RetryBudget(ratio: .infinity, minimum: .max, tokenCountMax: .max)
        for _ in 1...2000 { budget.operationStarted() }
        #expect(budget.tokenCount == 1_000_000)
        #expect(RetryBudget(tokenCountMax: .min).tokenCount == 0)
    }
}
