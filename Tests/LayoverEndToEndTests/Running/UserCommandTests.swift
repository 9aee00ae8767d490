import Foundation
import LayoverTestSupport
import Testing

/// `layover user`, and a proxy that asks its clients for a user.
struct UserCommandTests {
    /// Runs `layover user` with a password on its standard input.
    private func user(_ words: [String], in folder: TemporaryFolder, password: String = "") async throws -> CommandResult {
        try folder.write(password, to: "password")
        let line = "exec \"$0\" user \"$@\" --config config.json < password"
        var command = Command("sh", ["-c", line, RunningLayover.binary] + words)
        command.folder = folder.url
        return try await command.run()
    }

    private func text(_ folder: TemporaryFolder) throws -> String { try String(contentsOf: folder.file("config.json"), encoding: .utf8) }

    @Test func usersAreAddedAndRemovedAndNothingElseChanges() async throws {
        let folder = try TemporaryFolder()
        let before = "{\n   \"log\" : {\"level\":\"warning\"},\n   \"proxy\": { \"identity\":  \"me\" }\n}\n"
        try folder.write(before, to: "config.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file("config.json").path)
        let added = try await user(["add", "alice"], in: folder, password: "secret\n")
        #expect(added.status == 0)
        #expect(added.errors == "")
        let once = try text(folder)
        #expect(
            once.hasPrefix("{\n   \"log\" : {\"level\":\"warning\"},\n   \"proxy\": { \"identity\":  \"me\", \"users\": {\"alice\":\"$y$"))
        #expect(try FileManager.default.attributesOfItem(atPath: folder.file("config.json").path)[.posixPermissions] as? Int == 0o640)

        let taken = try await user(["add", "alice"], in: folder, password: "other")
        #expect(taken.status == 3)
        #expect(taken.errors.contains("alice is a user already"))
        #expect(try text(folder) == once)

        #expect(try await user(["add", "alice", "--replace"], in: folder, password: "other").status == 0)
        #expect(try text(folder) != once)
        #expect(try await user(["add", "bob"], in: folder, password: "p:w ö").status == 0)
        #expect(try await user(["list"], in: folder).output == "alice\nbob\n")
        #expect(try await user(["list", "--json"], in: folder).output.contains(#"{"method":"yescrypt","name":"bob"}"#))
        #expect(try await user(["remove", "carol"], in: folder).status == 3)
        for name in ["alice", "bob"] { #expect(try await user(["remove", name], in: folder).status == 0) }
        #expect(try text(folder).replacing(", \"users\": {}", with: "") == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.hasSuffix(".new") } == [])
    }

    @Test func invalidUserCommandIsReportedAndChangesNothing() async throws {
        let folder = try TemporaryFolder()
        let sound = #"{"proxy": {"listen": "0.0.0.0:0"}}"#
        try folder.write(sound, to: "config.json")
        for (words, password, complaint) in [
            (["add", "a:b"], "x", "colon"), (["add", "a"], "", "password"), (["add", "a"], "x\ny\n", "more than one line"),
            (["add", "a"], String(repeating: "x", count: 600), "more than 511 bytes"),
        ] {
            let result = try await user(words, in: folder, password: password)
            #expect(result.status == 1)
            #expect(result.errors.contains(complaint), "\(result)")
            #expect(try text(folder) == sound)
        }
        #expect(try await user(["add", "a"], in: folder, password: "x").status == 0)
        let last = try await user(["remove", "a"], in: folder)
        #expect(last.status == 1)
        #expect(last.errors.contains("proxy.users must have a user"), "\(last)")
        try folder.write("{", to: "config.json")
        #expect(try await user(["add", "a"], in: folder, password: "x").status == 1)
        #expect(try text(folder) == "{")
    }

    /// A terminal that stays silent shows nothing of what is typed into the next shell.
    @Test func terminalShowsWhatIsTypedAgainAfterCtrlC() async throws {
        let folder = try TemporaryFolder()
        try folder.write("{}", to: "config.json")
        let script = #"trap : INT; "$0" user add bob --config config.json; echo "status $?"; stty -a"#
        var command = Command(
            "python3",
            [
                "-B", Fixtures.path("terminal.py"), "--steps", #"[{"expect": "Password: ", "send": "\u0003"}]"#, "--",
                "sh", "-c", script, RunningLayover.binary,
            ])
        command.folder = folder.url
        let result = try await command.run()
        #expect(result.output.contains("status 130"), "\(result)")
        #expect(result.output.contains(" echo ") && !result.output.contains("-echo "), "\(result)")
        #expect(try text(folder) == "{}")
    }

    /// Each of them reads the file before the others have written it.
    @Test func usersAddedAtTheSameTimeAreAllThere() async throws {
        let folder = try TemporaryFolder()
        try folder.write("{}", to: "config.json")
        try folder.write("x", to: "password")
        let commands = (1...6).map { number in
            var command = Command("sh", ["-c", "exec \"$0\" user add u\(number) --config config.json < password", RunningLayover.binary])
            command.folder = folder.url
            return command
        }
        try await withThrowingTaskGroup { group in
            for command in commands { group.addTask { _ = try await command.succeed() } }
            try await group.waitForAll()
        }
        #expect(try await user(["list"], in: folder).output == "u1\nu2\nu3\nu4\nu5\nu6\n")
    }

    @Test func runningProxyAsksForTheUsersAfterAReload() async throws {
        let scene = try await Scene("{}")
        let layover = scene.layover
        let origin = try await scene.startOrigin()
        defer { withExtendedLifetime(origin) {} }
        #expect(try await layover.curl("--fail", scene.url("/echo")).run().status == 0)
        #expect(try await user(["add", "alice"], in: layover.folder, password: "se:cret").status == 0)
        let reload = try await layover.command("reload").run()
        #expect(reload.output.contains("proxy.users"), "\(reload)")

        func status(_ words: String...) async throws -> String {
            var command = layover.curl("--output", "/dev/null", "--write-out", "%{http_code} %{http_connect}", scene.url("/echo"))
            command.arguments += words
            return try await command.run().output
        }
        #expect(try await status() == "407 000")
        let url = "http://alice:se:cret@127.0.0.1:\(layover.proxyPort)"
        #expect(try await status("--proxy", url) == "200 000")
        #expect(try await status("--proxy", url, "--proxytunnel") == "200 200")
        #expect(try await status("--proxy", layover.proxyURL, "--proxy-user", "alice:wrong") == "407 000")
        #expect(try await status("--proxy", layover.proxyURL, "--proxy-user", "alice:se:cret", "--proxy-anyauth") == "200 000")

        // Batches have a way in of their own and need no user.
        let batch = try await layover.call("POST", "/v1/batch", json: #"{"requests":[{"url":"\#(scene.url("/echo"))"}]}"#)
        #expect(batch.text.contains(#""status":200"#), Comment(rawValue: batch.text))

        let env = try await layover.command("env").run()
        #expect(env.status == 1)
        #expect(env.errors.contains("asks for a user name and a password"), "\(env)")
        #expect(try await layover.command("env", "--proxy-url", url).run().output.contains(url))
        #expect(try await layover.call("GET", "/metrics").text.contains(#"layover_user_requests_total{user="alice"} 3"#))
        #expect(!(try await layover.call("GET", "/v1/config").text.contains("$y$")))

        #expect(try await user(["remove", "alice"], in: layover.folder).status == 0)
        #expect(try await layover.command("reload").run().status == 0)
        #expect(try await status() == "200 000")
        await layover.stop()
    }
}
