import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// `layover exec` where no proxy runs.
    @Suite struct PrivateProxy {
        private let scene: ExecScene

        init() throws { scene = try ExecScene() }

        @Test func commandSurvivesAnOutageAtItsStart() async throws {
            let command = scene.exec([], "sh", "-c", #"echo "admin=$LAYOVER_ADMIN_URL"; exec curl --silent --fail "$0""#, scene.url)
            let running = try command.start()
            let admin = try await scene.admin(of: running)
            _ = try await onOwnThread { try admin.waitForPending("curl waits", within: .seconds(60)) { $0.data.count == 1 } }
            let origin = try await scene.startOrigin()
            let result = await running.result()
            #expect(result.status == 0 && result.output.contains("Via"), "\(result)")
            #expect(result.errors.isEmpty, "\(result)")
            #expect(origin.records.count == 1)
            try scene.expectNothingLeft()
        }

        @Test func proxyIsStartedWhereNoneAnswers() async throws {
            // A namespace, because a proxy may run on this machine.
            let network = try await NetworkPair()
            var command = scene.exec([], "sh", "-c", "echo $http_proxy").within(network.name(.near))
            command.arguments = ["exec"] + command.arguments.drop { $0 != "--" }
            let result = try await command.run()
            await network.remove()
            #expect(result.status == 0 && result.output.hasPrefix("http://127.0.0.1:"), "\(result)")
            try scene.expectNothingLeft()
        }

        /// The proxy runs, but variables alone cannot make a command use it.
        @Test func unusableProxyIsReportedAndReplaced() async throws {
            let users = #"{"proxy": {"users": {"me": "$2b$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."}}}"#
            let layover = try await RunningLayover.start(users)
            func exec(_ options: String...) async throws -> CommandResult {
                try await Command(RunningLayover.binary, ["exec"] + options + ["--", "sh", "-c", "echo $http_proxy"])
                    .with(["RUNTIME_DIRECTORY": layover.folder.url.path]).run()
            }
            let own = try await exec()
            #expect(own.status == 0 && own.output.hasPrefix("http://127.0.0.1:") && !own.output.contains("\(layover.proxyPort)"), "\(own)")
            #expect(own.errors.contains("asks for a user name and a password") && own.errors.contains("A private proxy is used."), "\(own)")
            #expect(try await exec("--quiet").errors.isEmpty)
            let named = try await exec("--admin-url", layover.adminURL)
            #expect(named.status == 1 && named.output.isEmpty, "\(named)")
        }

        // MARK: Interception

        /// A running proxy would not intercept the host for the command.
        @Test func optionInterceptStartsAPrivateProxyBesideARunningOne() async throws {
            let layover = try await RunningLayover.start()
            func exec(_ options: String...) async throws -> CommandResult {
                try await Command(RunningLayover.binary, ["exec"] + options + ["--", "sh", "-c", "echo $http_proxy"])
                    .with(["RUNTIME_DIRECTORY": layover.folder.url.path, "STATE_DIRECTORY": layover.folder.url.path]).run()
            }
            #expect(try await exec().output == layover.proxyURL + "\n")
            let own = try await exec("--intercept", "localhost")
            #expect(own.status == 0 && own.output.hasPrefix("http://127.0.0.1:") && own.output != layover.proxyURL + "\n", "\(own)")
        }

        @Test func routesOfTheConfigurationThatInterceptAreTrusted() async throws {
            let root = try TemporaryFolder()
            let authority = try await TestAuthority(in: root)
            let scene = try ExecScene(
                """
                {"tls": {"caFile": "\(authority.certificate)", "folder": "\(root.file("own").path)"},
                 "routes": {"seen": {"host": "localhost", "intercept": true}}}
                """)
            let origin = try await RunningOrigin.start(in: scene.root, port: scene.port, identity: authority.identity)
            let result = try await scene.exec(
                [], "curl", "--silent", "--show-error", "--fail", "https://localhost:\(scene.port.number)/echo"
            ).run()
            #expect(result.status == 0 && result.output.contains("Via"), "\(result)")
            #expect(origin.records.contains { $0.target == "/echo" })
        }

        /// The command would trust the origin by a variable of the calling shell; the proxy in its place has to trust it too.
        @Test(arguments: ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"])
        func privateProxyTrustsWhatTheCommandTrusts(variable: String) async throws {
            let root = try TemporaryFolder()
            let authority = try await TestAuthority(in: root)
            let scene = try ExecScene(#"{"tls": {"folder": "\#(root.file("own").path)"}}"#)
            let origin = try await RunningOrigin.start(in: scene.root, port: scene.port, identity: authority.identity)
            func fetch(_ options: [String], _ environment: [String: String]) async throws -> CommandResult {
                try await scene.exec(
                    ["--intercept", "localhost"] + options, "curl", "--silent", "--show-error", "--fail",
                    "https://localhost:\(scene.port.number)/echo"
                ).with(environment).run()
            }
            let trusted = try await fetch([], [variable: authority.certificate])
            #expect(trusted.status == 0 && trusted.output.contains("Via"), "\(trusted)")
            #expect(trusted.errors == "layover: the private proxy also trusts the certificates of \(variable)\n", "\(trusted)")
            #expect(try await fetch(["--policy", "default"], [:]).status != 0, "without the variable nobody trusts it")
            #expect(origin.records.count == 1)
            try scene.expectNothingLeft()
        }

        /// A proxy of its own serves other shells, too: it says what it does not trust.
        @Test func runWarnsOfCertificatesThatItDoesNotTrust() async throws {
            let root = try TemporaryFolder()
            let authority = try await TestAuthority(in: root)
            let environment = ["CURL_CA_BUNDLE": authority.certificate]
            let intercepts =
                #"{"tls": {"folder": "\#(root.file("own").path)"}, "routes": {"seen": {"host": "localhost", "intercept": true}}}"#
            let warns = try await RunningLayover.start(intercepts, environment: environment).stop()
            #expect(warns.errors.contains("CURL_CA_BUNDLE: the proxy does not trust the certificates that are named there."), "\(warns)")
            // The proxy does not verify origins, or trusts them.
            let knows = #"{"tls": {"caFile": "\#(authority.certificate)", "# + intercepts.dropFirst(#"{"tls": {"#.count)
            for configuration in [RunningLayover.quickRetries, knows] {
                let silent = try await RunningLayover.start(configuration, environment: environment).stop()
                #expect(silent.status == 0 && !silent.errors.contains("CURL_CA_BUNDLE"), "\(silent)")
            }
        }

        /// A proxy that runs with this user's configuration.
        @Test func runningProxyThatInterceptsIsTrusted() async throws {
            let test = try await InterceptionScene()
            let layover = test.scene.layover
            let origin = try await test.scene.startOrigin(test.authority.identity)
            let words = ["exec", "--", "curl", "--silent", "--show-error", "--fail", test.scene.secureURL("/echo")]
            func exec(_ environment: [String: String]) async throws -> CommandResult {
                try await Command(RunningLayover.binary, words).with(["LAYOVER_ADMIN_URL": layover.adminURL]).with(environment).run()
            }
            let trusted = try await exec(["LAYOVER_CONFIG": layover.folder.file("config.json").path])
            #expect(trusted.status == 0 && trusted.output.contains("Via"), "\(trusted)")
            #expect(origin.records.map(\.target).contains("/echo"))
            // Another configuration has another authority.
            #expect(try await exec([:]).status != 0)
        }

        // MARK: Its end

        @Test(
            arguments: [
                (["true"], Int32(0)), (["sh", "-c", "exit 3"], 3), (["layover-no-such-program"], 127), (["/etc/passwd"], 126),
                (["sh", "-c", "kill -TERM $$"], -SIGTERM), (["sh", "-c", "kill -KILL $$"], -SIGKILL),
            ] as [([String], Int32)])
        func exitStatusIsThatOfTheCommandAndNothingIsLeft(words: [String], status: Int32) async throws {
            var command = scene.exec()
            command.arguments += words
            let result = try await command.run()
            #expect(result.status == status, "\(result)")
            #expect(result.errors.isEmpty == (status < 126), "\(result)")
            try scene.expectNothingLeft()
        }

        @Test func scriptWithoutAnInterpreterIsRunByTheShell() async throws {
            let script = try scene.folder.write("echo script $1", to: "script")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
            let result = try await scene.exec([], script, "one").run()
            #expect(result.status == 0 && result.output == "script one\n", "\(result)")
        }

        @Test func proxyOfAKilledExecEndsToo() async throws {
            var command = scene.exec()
            command.arguments += ExecScene.announced("exec cat <&3")
            // The command never ends by itself: it holds both ends of what it reads.
            let running = try Command("sh", ["-c", #"mkfifo hold; exec 3<>hold; exec "$0" "$@""#, command.executable] + command.arguments)
                .with(command.environment).start()
            _ = try await scene.admin(of: running)
            running.signal(SIGKILL)
            _ = try await FolderWatch(scene.temporary).first("the folder is gone", within: .seconds(60)) {
                try FileManager.default.contentsOfDirectory(atPath: scene.temporary.path).isEmpty ? true : nil
            }
        }

        @Test func fiftyParallelCommandsHaveAProxyEach() async throws {
            let command = scene.exec([], "sh", "-c", "echo $http_proxy")
            let words = [command.executable] + command.arguments
            let result = try await Command("sh", ["-c", #"seq 50 | xargs -P 50 -I{} "$0" "$@""#] + words)
                .with(command.environment).run(within: .seconds(120))
            #expect(result.status == 0, "\(result)")
            // A port may be used again once its proxy has ended.
            #expect(result.output.split(separator: "\n").count { $0.hasPrefix("http://127.0.0.1:") } == 50, "\(result)")
            try scene.expectNothingLeft()
        }

        // MARK: Its start fails

        @Test func folderThatCannotBeMadeIsAClearError() async throws {
            let result = try await scene.exec([], "echo", "ran").with(["TMPDIR": "/proc/nowhere"]).run()
            #expect(result.status == 2 && result.output.isEmpty, "\(result)")
            #expect(result.errors.contains("no folder can be made in /proc/nowhere"), "\(result)")
        }

        @Test func errorsOfTheConfigurationAreShown() async throws {
            let scene = try ExecScene(#"{"polices":{}}"#)
            let result = try await scene.exec([], "echo", "ran").run()
            #expect(result.status == 1 && result.output.isEmpty, "\(result)")
            #expect(result.errors.contains("did you mean policies?"), "\(result)")
            try scene.expectNothingLeft()
        }

        // MARK: Its rules

        @Test func policyIsUsedForAllRequests() async throws {
            let scene = try ExecScene(#"{"policies":{"now":{"mode":"pass"}}}"#)
            let result = try await scene.exec(["--policy", "now"], "curl", "--silent", "--write-out", "%{http_code}", scene.url).run()
            #expect(result.status == 0 && result.output.hasSuffix("502"), "\(result)")
            let unknown = try await scene.exec(["--policy", "nwo"], "echo", "ran").run()
            #expect(unknown.status == 1 && unknown.errors.contains("did you mean now?"), "\(unknown)")
        }

        @Test func requestThatAsksForATicketWaitsWithItsClient() async throws {
            let running = try scene.exec(
                [], "sh", "-c", #"echo "admin=$LAYOVER_ADMIN_URL"; exec curl -sH 'Prefer: respond-async, wait=0' -w '%{http_code}' "$0""#,
                scene.url
            ).start()
            let admin = try await scene.admin(of: running)
            _ = try await onOwnThread {
                try admin.waitForPending("it waits", within: .seconds(60)) { $0.data.first.map { $0.ticket == nil } ?? false }
            }
            let origin = try await scene.startOrigin()
            let result = await running.result()
            #expect(result.status == 0 && result.output.hasSuffix("200"), "\(result)")
            #expect(origin.records.count == 1)
        }

        @Test func nestedExecUsesTheOuterProxy() async throws {
            let inner = #"echo $http_proxy; "$0" exec -- sh -c 'echo $http_proxy'; "$0" status >/dev/null && ls "$TMPDIR" | wc -l"#
            let result = try await scene.exec([], "sh", "-c", inner, RunningLayover.binary).run()
            let lines = result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(result.status == 0 && lines.count == 3 && lines[0] == lines[1] && lines[2] == "1", "\(result)")
        }
    }
}
