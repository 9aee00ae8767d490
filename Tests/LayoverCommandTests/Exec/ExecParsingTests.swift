import ArgumentParser
import Testing

@testable import layover

struct ExecParsingTests {
    private func parsed(_ arguments: String...) throws -> Exec {
        try #require(try Layover.parseAsRoot(["exec"] + arguments) as? Exec)
    }

    @Test func optionsOfAPrivateProxyArePassedToIt() throws {
        let command = try parsed(
            "--intercept", "a.example", "--intercept", "b.example", "--policy", "ai", "--config", "c.json", "--", "make", "--quiet")
        #expect(command.own.isGiven)
        #expect(
            command.own.arguments == [
                "--config", "c.json", "--intercept", "a.example", "--intercept", "b.example", "--policy", "ai",
            ])
        #expect(command.words == ["make", "--quiet"])
        #expect(!command.quiet)
    }

    @Test func commandWithoutOwnOptionsUsesTheRunningProxy() throws {
        let command = try parsed("--quiet", "make")
        #expect(!command.own.isGiven && command.quiet)
    }

    @Test(arguments: [
        ["--proxy-url", "http://p:1", "--policy", "ai"], ["--admin-url", "http://a:1", "--intercept", "b.example"],
        ["--proxy-url", "http://p:1", "--config", "c.json"],
    ])
    func proxyThatRunsIsNotNamedForAPrivateOne(options: [String]) {
        #expect {
            _ = try Layover.parseAsRoot(["exec"] + options + ["--", "make"])
        } throws: {
            Layover.exitCode(for: $0) == .validationFailure && Layover.fullMessage(for: $0).contains("start a private one")
        }
    }
}
