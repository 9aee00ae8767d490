import Testing

@testable import LayoverSystem

struct RandomBytesTests {
    @Test func requestedNumberOfBytesIsReturned() throws {
        for count in [0, 1, 12, 32, 100_000] { #expect(try RandomBytes.make(count: count).count == count) }
    }

    @Test func bytesAreNeverTheSame() throws {
        let made = try (0..<1000).map { _ in try RandomBytes.make(count: 16) }
        #expect(Set(made).count == made.count)
    }
}
