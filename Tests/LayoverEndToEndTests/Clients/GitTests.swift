import LayoverTestSupport
import Testing

extension EndToEnd {
    @Suite struct Git {
        @Test(arguments: OriginTiming.allCases)
        func aRepositoryIsClonedOverHTTP(timing: OriginTiming) async throws {
            let scene = try await Scene()
            try await makeRepository(in: scene.root)
            let copy = scene.root.file("copy").path
            let (result, records) = try await scene.run(
                scene.layover.client("git", "clone", "--quiet", scene.url("/git/demo.git"), copy), origin: timing)

            #expect(result.status == 0, "\(result)")
            #expect(scene.root.text(of: "copy/note") == "it arrived\n")
            #expect(records.contains { $0.method == "POST" && $0.target.hasSuffix("/git-upload-pack") })
        }

        @Test(arguments: OriginTiming.allCases)
        func aRepositoryIsClonedThroughATunnel(timing: OriginTiming) async throws {
            let scene = try await Scene()
            try await makeRepository(in: scene.root)
            let authority = try await TestAuthority(in: scene.root)
            let copy = scene.root.file("copy").path
            let (result, _) = try await scene.run(
                scene.layover.client("git", "clone", "--quiet", scene.secureURL("/git/demo.git"), copy)
                    .with(["GIT_SSL_CAINFO": authority.certificate]),
                origin: timing, identity: authority.identity)

            #expect(result.status == 0, "\(result)")
            #expect(scene.root.text(of: "copy/note") == "it arrived\n")
        }

        @Test func aPushArrives() async throws {
            let scene = try await Scene()
            try await makeRepository(in: scene.root)
            let origin = try await scene.startOrigin()
            let copy = scene.root.file("copy").path
            try await scene.layover.client("git", "clone", "--quiet", scene.url("/git/demo.git"), copy).succeed()
            try await git(copy, "commit", "--quiet", "--allow-empty", "--message", "second").succeed()
            let push = scene.layover.client("git", "-C", copy, "push", "--quiet", "origin", "HEAD:refs/heads/second")
            let result = try await push.run()

            #expect(result.status == 0, "\(result)")
            #expect(origin.records.contains { $0.target.hasSuffix("/git-receive-pack") && $0.method == "POST" })
        }

        private func makeRepository(in root: TemporaryFolder) async throws {
            let bare = root.file("git/demo.git").path
            let work = root.file("work").path
            try await Command("git", ["init", "--quiet", "--bare", bare]).succeed()
            // http-backend lets nobody push who did not log in, unless the repository allows it.
            try await git(bare, "config", "http.receivepack", "true").succeed()
            try await Command("git", ["init", "--quiet", work]).succeed()
            try root.write("it arrived\n", to: "work/note")
            try await git(work, "add", "note").succeed()
            try await git(work, "commit", "--quiet", "--message", "first").succeed()
            try await git(work, "push", "--quiet", bare, "HEAD:refs/heads/main").succeed()
            try await git(bare, "symbolic-ref", "HEAD", "refs/heads/main").succeed()
        }

        private func git(_ folder: String, _ words: String...) -> Command {
            Command("git", ["-C", folder, "-c", "user.name=Test", "-c", "user.email=test@example.com"] + words)
        }
    }
}
