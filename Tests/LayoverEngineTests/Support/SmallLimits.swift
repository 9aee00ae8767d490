@testable import LayoverEngine

extension CapturedBody.Limits {
    /// So small that a few thousand bytes meet them: 1000 in memory, 20 000 in the window.
    static func small(_ change: (inout Self) -> Void = { _ in }) -> Self {
        var limits = Self()
        limits.inMemoryMax = 1000
        limits.windowMax = 20_000
        change(&limits)
        return limits
    }
}
