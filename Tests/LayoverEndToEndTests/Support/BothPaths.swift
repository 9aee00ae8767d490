import LayoverTestSupport
import Testing

/// Runs each test twice: as the proxy ships, and with the transfers of libcurl (`proxy.upstream`).
struct BothPaths: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func scopeProvider(for test: Test, testCase: Test.Case?) -> BothPaths? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await function()
        try await RunningLayover.$upstream.withValue("libcurl") {
            do {
                try await function()
            } catch {
                Issue.record("with libcurl: \(error)")
                throw error
            }
        }
    }
}

extension Trait where Self == BothPaths {
    static var bothPaths: BothPaths { BothPaths() }
}
