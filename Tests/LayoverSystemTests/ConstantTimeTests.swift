import Testing

@testable import LayoverSystem

struct ConstantTimeTests {
    @Test(arguments: [
        ("", "", true), ("a", "a", true), ("hunter2", "hunter2", true), ("", "a", false), ("a", "", false),
        ("hunter2", "hunter3", false), ("aunter2", "hunter2", false), ("hunter", "hunter2", false),
        ("hunter22", "hunter2", false), ("hunter2hunter2", "hunter2", false),
    ])
    func onlyTheSameBytesAreEqual(guess: String, secret: String, isEqual: Bool) {
        #expect(ConstantTime.isEqual(Array(guess.utf8), Array(secret.utf8)) == isEqual)
    }
}
